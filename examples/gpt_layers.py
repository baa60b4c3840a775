"""The layers of a GPT, as the operators and kernels that PyTorch runs for their forward and backward.

Durations follow from the work: FLOPs at a share of the H100's 989 TFLOP/s (wave quantisation of the tiles included), bytes at a share of 3.35 TB/s.
The shares are typical of published measurements, not of any one run.
"""
from profiled_machine import Scalar, ScalarList, Tensor, TensorList

PEAK_FLOPS_PER_NS = 989e3
PEAK_BYTES_PER_NS = 3350.0
COMPUTE, COPIES, COLLECTIVES = 7, 20, 24   # streams

BATCH, LENGTH, WIDTH, HEADS, LAYERS, VOCABULARY, FEATURES = 8, 2048, 2048, 16, 12, 50304, 768
CHECKPOINTED = 6                           # the first so many blocks keep no activations
TOKENS = BATCH * LENGTH

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<{v}, at::native::{f}, std::array<char*, {n}ul> >(int, at::native::{f}, std::array<char*, {n}ul>)"


def bytes_time(size, share=0.82):
    return 1700 + int(size / (PEAK_BYTES_PER_NS * share))


def matrix_time(m, n, k, share=0.74):
    tiles = -(-m // 256) * -(-n // 128)
    waves = -(-tiles // 132)
    filled = tiles / (waves * 132)
    flops = 2.0 * m * n * k / (PEAK_FLOPS_PER_NS * share * (0.35 + 0.65 * filled))
    moved = 2.0 * (m * k + k * n + m * n) / (PEAK_BYTES_PER_NS * 0.8)
    return 2600 + int(max(flops, moved))


class Node:
    """A node of the autograd graph: what backward() will run for it, and in which checkpointed block it was made."""

    def __init__(self, name, sequence, thread, forward_row, backward, needs_saved, block):
        self.name, self.sequence, self.thread, self.forward_row = name, sequence, thread, forward_row
        self.backward, self.needs_saved, self.block = backward, needs_saved, block


class Block:
    """A checkpointed block: its saved tensors are computed again when backward first asks for one."""

    def __init__(self, run):
        self.run, self.recomputed = run, False


class Parameter(Tensor):
    def __init__(self, path, dims):
        super().__init__(dims)
        self.path = path


class Model:
    """The layers: what their forward and backward run. Subclasses run the step."""

    def __init__(self, machine, main):
        self.machine, self.main = machine, main
        self.thread = main
        self.tape, self.block = [], None
        self.parameters = []
        self.activations, self.temporaries, self.accumulations = [], [], []
        self.wte, self.wpe = self.parameter("wte", [VOCABULARY, WIDTH]), self.parameter("wpe", [LENGTH, WIDTH])
        self.feature_weight, self.feature_bias = self.parameter("features.weight", [WIDTH, FEATURES]), self.parameter("features.bias", [WIDTH])
        self.layers = []
        for i in range(LAYERS):
            p = {}
            for name, dims in (("ln_1.weight", [WIDTH]), ("ln_1.bias", [WIDTH]), ("c_attn.weight", [3 * WIDTH, WIDTH]), ("c_attn.bias", [3 * WIDTH]),
                               ("attn.c_proj.weight", [WIDTH, WIDTH]), ("attn.c_proj.bias", [WIDTH]), ("ln_2.weight", [WIDTH]), ("ln_2.bias", [WIDTH]),
                               ("c_fc.weight", [4 * WIDTH, WIDTH]), ("c_fc.bias", [4 * WIDTH]), ("c_proj.weight", [WIDTH, 4 * WIDTH]),
                               ("c_proj.bias", [WIDTH])):
                p[name] = self.parameter(f"h.{i}.{name}", dims)
            self.layers.append(p)
        self.norm_weight, self.norm_bias = self.parameter("ln_f.weight", [WIDTH]), self.parameter("ln_f.bias", [WIDTH])
        self.head = self.parameter("lm_head.weight", [VOCABULARY, WIDTH])

    def parameter(self, path, dims):
        self.parameters.append(Parameter(path, dims))
        return self.parameters[-1]

    # --- small operators that every layer uses --------------------------------------------------------------------------------------------------------
    def op(self, name, *arguments, **options):
        return self.thread.operator(name, arguments, **options)

    def record(self, name, sequence, backward, needs_saved=False):
        """Puts a node on the tape (a recomputed forward's nodes are never used: the first ones hold the gradient functions)."""
        if self.thread is self.main:
            self.tape.append(Node(name, sequence, self.thread, self.thread.last_of_sequence.get(sequence), backward, needs_saved, self.block))

    def free_after_next(self, tensor):
        """Of a gradient that the next node consumes: it is freed when that node is done."""
        self.temporaries.append(tensor)

    def accumulate(self, parameter, gradient):
        self.accumulations.append((parameter, gradient))

    def elementwise(self, functor, moved, arrays=2, width=4):
        self.thread.launch(ELEMENTWISE.format(f=functor, v=width, n=arrays), bytes_time(moved), blocks=max(1, moved // 6 // 512 // 4), threads=128, registers=32)

    def saved(self, tensor):
        self.activations.append(tensor)
        return tensor

    def view(self, x, dims, strides=None):
        out = x.view(dims, strides)
        sequence = self.thread.sequence
        with self.op("aten::view", x, ScalarList(str(dims)), node=True, cost=1100):
            pass
        self.record("ViewBackward0", sequence, lambda: self._reshape(out, x.dims))
        return out

    def _reshape(self, x, dims):
        with self.op("aten::reshape", x, ScalarList(str(dims))):
            with self.op("aten::view", x, ScalarList(str(dims))):
                pass

    def transpose(self, x, a, b):
        dims, strides = list(x.dims), list(x.strides)
        dims[a], dims[b], strides[a], strides[b] = dims[b], dims[a], strides[b], strides[a]
        out = x.view(dims, strides)
        sequence = self.thread.sequence
        self._transpose_rows(x, a, b, out, node=True)
        self.record("TransposeBackward0", sequence, lambda: self._transpose_rows(out, a, b, x))
        return out

    def _transpose_rows(self, x, a, b, out, node=False):
        with self.op("aten::transpose", x, Scalar(a), Scalar(b), node=node):
            with self.op("aten::as_strided", x, ScalarList(str(out.dims)), ScalarList(str(out.strides)), None, cost=600):
                pass

    def t(self, w, node=False):
        out = w.view([w.dims[1], w.dims[0]], [w.strides[1], w.strides[0]])
        sequence = self.thread.sequence
        with self.op("aten::t", w, node=node):
            self._transpose_rows(w, 0, 1, out)
        if node:
            self.record("TBackward0", sequence, lambda: self.t(out))
        return out

    def matrix_kernel(self, m, n, k, epilogue="", api="cuLaunchKernelEx"):
        wide = n >= 2048 and m >= 2048
        name = f"nvjet_tst_{'256x128_64x4_1x2' if wide else '128x64_64x6_2x1'}_h_bz_coopA{epilogue}_TNT"
        self.thread.launch(name, matrix_time(m, n, k), api=api, blocks=132, threads=384, registers=168, shared=213120)

    def mm(self, a, b, owner_of_result=True):
        out = Tensor([a.dims[0], b.dims[1]])
        with self.op("aten::mm", a, b, cost=4200):
            if owner_of_result:
                self.thread.allocate(out)
            self.matrix_kernel(a.dims[0], b.dims[1], a.dims[1])
        return out

    # --- layers ---------------------------------------------------------------------------------------------------------------------------------------
    def linear(self, x, weight, bias, path):
        flat = Tensor([x.count // x.dims[-1], x.dims[-1]])
        rows, columns, depth = flat.dims[0], weight.dims[0], weight.dims[1]
        thread = self.thread
        with thread.module("Linear", path, "torch/nn/modules/linear.py(124): forward"), thread.python("<built-in function linear>"):
            with self.op("aten::linear", x, weight, bias):
                weight_t = self.t(weight, node=True)
                flat = self.view(x, flat.dims)
                out = Tensor([rows, columns])
                sequence = thread.sequence
                if bias is not None:
                    with self.op("aten::addmm", bias, flat, weight_t, Scalar("1"), Scalar("1"), node=True, cost=5200):
                        self.saved(thread.allocate(out))
                        self.matrix_kernel(rows, columns, depth, "_bias")
                    self.record("AddmmBackward0", sequence, lambda: self.linear_backward(flat, weight, bias, out), needs_saved=True)
                else:
                    with self.op("aten::matmul", flat, weight_t), self.op("aten::mm", flat, weight_t, node=True, cost=4600):
                        self.saved(thread.allocate(out))
                        self.matrix_kernel(rows, columns, depth)
                    self.record("MmBackward0", sequence, lambda: self.linear_backward(flat, weight, None, out), needs_saved=True)
                result = self.view(out, x.dims[:-1] + [columns])
        result.address, out.address = out.address, None
        self.activations[-1] = result
        return result

    def linear_backward(self, x, weight, bias, out):
        gradient = Tensor(out.dims)
        self.t(self.t(weight))
        self.free_after_next(self.mm(gradient, weight))
        self.t(gradient)
        dw = self.mm(gradient.view([out.dims[1], out.dims[0]], [1, out.dims[1]]), x)
        self.t(dw)
        if bias is not None:
            db = Tensor([1, bias.dims[0]])
            with self.op("aten::sum", gradient, ScalarList("[0]"), Scalar("True"), None, cost=3600):
                self.thread.allocate(db)
                self.thread.fill(64)
                self.thread.launch("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, "
                                   "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
                                   "unsigned int, c10::BFloat16, 4, 4> >", bytes_time(gradient.bytes, 0.7), blocks=512, threads=512, registers=40, shared=16)
            self.accumulate(bias, db)
        self.accumulate(weight, dw)

    def layer_norm(self, x, weight, bias, path):
        thread = self.thread
        out, mean, deviation = Tensor(x.dims), Tensor(x.dims[:-1] + [1], "float"), Tensor(x.dims[:-1] + [1], "float")
        with thread.module("LayerNorm", path, "torch/nn/modules/normalization.py(217): forward"), thread.python("<built-in method layer_norm of type object at 0x7f4b>"):
            with self.op("aten::layer_norm", x, ScalarList(f"[{WIDTH}]"), weight, bias, Scalar("1e-05"), Scalar("True")):
                sequence = thread.sequence
                with self.op("aten::native_layer_norm", x, ScalarList(f"[{WIDTH}]"), weight, bias, Scalar("1e-05"), node=True, cost=2400):
                    for tensor in (out, mean, deviation):
                        self.saved(thread.allocate(tensor))
                    thread.launch("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, "
                                  "c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)", bytes_time(2 * x.bytes, 0.86), blocks=TOKENS,
                                  threads=128, registers=40, shared=48)
        self.record("NativeLayerNormBackward0", sequence, lambda: self.layer_norm_backward(x, weight, bias, mean), needs_saved=True)
        return out

    def layer_norm_backward(self, x, weight, bias, mean):
        thread, gradient, dx = self.thread, Tensor(x.dims), Tensor(x.dims)
        dw, db = Tensor(weight.dims), Tensor(bias.dims)
        with self.op("aten::native_layer_norm_backward", gradient, x, ScalarList(f"[{WIDTH}]"), mean, mean, weight, bias, ScalarList("[True, True, True]"), cost=3000):
            for tensor in (dx, dw, db):
                thread.allocate(tensor)
            thread.launch("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float, false>(c10::BFloat16 const*, "
                          "c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)", bytes_time(3 * x.bytes, 0.8), blocks=TOKENS,
                          threads=256, registers=54)
            thread.launch("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16, float, 32u, 32u, 256u, true, false>(long, long, "
                          "c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16*, c10::BFloat16*)", bytes_time(2 * x.bytes, 0.6),
                          blocks=64, threads=1024, registers=48, shared=8448)
        self.accumulate(weight, dw)
        self.accumulate(bias, db)
        with self.op("aten::add", dx, gradient, Scalar("1"), cost=2600):  # the residual path joins here
            self.elementwise("CUDAFunctor_add<c10::BFloat16>", 3 * x.bytes, 3)
        thread.free(dx)

    def dropout(self, x, path):
        thread, out, mask = self.thread, Tensor(x.dims), Tensor(x.dims, "bool")
        with thread.module("Dropout", path, "torch/nn/modules/dropout.py(72): forward"), thread.python("<built-in function dropout>"):
            with self.op("aten::dropout", x, Scalar("0.10000000000000001"), Scalar("True")):
                sequence = thread.sequence
                with self.op("aten::native_dropout", x, Scalar("0.10000000000000001"), Scalar("True"), node=True, cost=2600):
                    self.saved(thread.allocate(out, "aten::empty_like"))
                    self.saved(thread.allocate(mask))
                    thread.launch("void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, 1, 8, bool>("
                                  "at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, "
                                  "at::cuda::detail::TensorInfo<bool, unsigned int>, unsigned int, float, at::PhiloxCudaState)", bytes_time(2 * x.bytes + x.count, 0.78),
                                  blocks=1056, threads=256, registers=48)
        self.record("NativeDropoutBackward0", sequence, lambda: self.pointwise_backward("aten::native_dropout_backward", x, mask, "masked_scale"), needs_saved=True)
        return out

    def pointwise_backward(self, name, x, other, functor):
        gradient = Tensor(x.dims)
        dx = Tensor(x.dims)
        with self.op(name, gradient, other, Scalar("1.1111111111111112"), cost=2300):
            self.thread.allocate(dx, "aten::empty_like")
            self.elementwise(f"{functor}<c10::BFloat16>", 2 * x.bytes + other.bytes, 3)
        self.free_after_next(dx)

    def gelu(self, x, path):
        thread, out = self.thread, Tensor(x.dims)
        with thread.module("GELU", path, "torch/nn/modules/activation.py(734): forward"), thread.python("<built-in function gelu>"):
            sequence = thread.sequence
            with self.op("aten::gelu", x, Scalar("tanh"), node=True, cost=2300):
                self.saved(thread.allocate(out, "aten::empty_strided"))
                self.elementwise("GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}", 2 * x.bytes)
        self.record("GeluBackward0", sequence, lambda: self.pointwise_backward("aten::gelu_backward", x, x, "GeluBackwardCUDAKernelImpl"), needs_saved=True)
        return out

    def add(self, a, b):
        out = Tensor(a.dims)
        sequence = self.thread.sequence
        with self.op("aten::add", a, b, Scalar("1"), node=True, cost=2200):
            self.saved(self.thread.allocate(out, "aten::empty_strided"))
            self.elementwise("CUDAFunctor_add<c10::BFloat16>", 3 * a.bytes, 3)
        self.record("AddBackward0", sequence, lambda: None)
        return out

    def attention(self, x, p, layer):
        thread, size = self.thread, WIDTH // HEADS
        with thread.module("CausalSelfAttention", f"h.{layer}.attn", "gpt.py(52): forward"):
            joined = self.linear(x, p["c_attn.weight"], p["c_attn.bias"], f"h.{layer}.attn.c_attn")
            strides = [LENGTH * 3 * WIDTH, 3 * WIDTH, 1]
            sequence = thread.sequence
            with self.op("aten::split", joined, Scalar(WIDTH), Scalar(2), node=True):
                for i in range(3):
                    with self.op("aten::narrow", joined, Scalar(2), Scalar(i * WIDTH), Scalar(WIDTH)):
                        with self.op("aten::slice", joined, Scalar(2), Scalar(i * WIDTH), Scalar((i + 1) * WIDTH), Scalar(1)):
                            pass
            self.record("SplitBackward0", sequence, lambda: self.split_backward(joined))
            heads = []
            for _ in range(3):
                part = self.view(Tensor([BATCH, LENGTH, WIDTH], strides=strides), [BATCH, LENGTH, HEADS, size], [strides[0], strides[1], size, 1])
                heads.append(self.transpose(part, 1, 2))
            q, k, v = heads
            out, sums = Tensor([BATCH, HEADS, LENGTH, size], strides=[LENGTH * WIDTH, size, WIDTH, 1]), Tensor([BATCH, HEADS, LENGTH], "float")
            with thread.python("<built-in function scaled_dot_product_attention>"):
                with self.op("aten::scaled_dot_product_attention", q, k, v, None, Scalar("0."), Scalar("True"), None, Scalar("False"), cost=2600):
                    sequence = thread.sequence
                    with self.op("aten::_scaled_dot_product_flash_attention", q, k, v, Scalar("0."), Scalar("True"), Scalar("False"), None, node=True, cost=2600):
                        flash = [Tensor([BATCH, LENGTH, HEADS, size], strides=[t.strides[0], t.strides[2], t.strides[1], 1]) for t in (q, k, v)]
                        with self.op("aten::_flash_attention_forward", *flash, None, None, Scalar(LENGTH), Scalar(LENGTH), Scalar("0."), Scalar("True"), Scalar("False"),
                                     Scalar("0.088388347648318447"), None, None, None, None, cost=3500):
                            self.saved(thread.allocate(out, "aten::empty_like"))
                            self.saved(thread.allocate(sums))
                            flops = 4.0 * BATCH * HEADS * LENGTH * LENGTH * size / 2
                            thread.launch("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t, "
                                          "Flash_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, false, false>("
                                          "pytorch_flash::Flash_fwd_params)", int(flops / (PEAK_FLOPS_PER_NS * 0.37)), blocks=LENGTH // 128 * BATCH * HEADS, threads=128,
                                          registers=255, shared=65536)
            self.record("ScaledDotProductFlashAttentionBackward0", sequence, lambda: self.attention_backward(q, k, v, out, sums), needs_saved=True)
            merged = self.view(self.transpose(out, 1, 2), [BATCH, LENGTH, WIDTH])
            projected = self.linear(merged, p["attn.c_proj.weight"], p["attn.c_proj.bias"], f"h.{layer}.attn.c_proj")
            return self.dropout(projected, f"h.{layer}.attn.resid_dropout")

    def attention_backward(self, q, k, v, out, sums):
        thread, size = self.thread, WIDTH // HEADS
        gradient, flops = Tensor(out.dims, strides=out.strides), 10.0 * BATCH * HEADS * LENGTH * LENGTH * size / 2
        seed = Tensor([], "long int")
        common = (sums, None, None, Scalar(LENGTH), Scalar(LENGTH), Scalar("0."), Scalar("True"), seed, seed, Scalar("0.088388347648318447"))
        with self.op("aten::_scaled_dot_product_flash_attention_backward", gradient, q, k, v, out, *common, cost=2600):
            transposed = [Tensor([BATCH, LENGTH, HEADS, size], strides=[t.strides[i] for i in (0, 2, 1, 3)]) for t in (gradient, q, k, v, out)]
            with self.op("aten::_flash_attention_backward", *transposed, *common, cost=3500):
                results = [thread.allocate(Tensor(q.dims), "aten::empty_like") for _ in range(3)]
                accumulator = thread.allocate(Tensor([BATCH, LENGTH, HEADS, size], "float"))
                traits = "Flash_bwd_kernel_traits<128, 64, 128, 8, 4, 2, 2, false, false, cutlass::bfloat16_t>"
                thread.launch(f"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, {traits}>(pytorch_flash::Flash_bwd_params)", bytes_time(2 * out.bytes + accumulator.bytes, 0.7),
                              blocks=LENGTH // 64 * BATCH * HEADS, threads=256, registers=64)
                thread.launch(f"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<{traits}, false, true, false, false, true, true, false>("
                              "pytorch_flash::Flash_bwd_params)", int(flops / (PEAK_FLOPS_PER_NS * 0.34)), blocks=LENGTH // 128 * BATCH * HEADS, threads=256, registers=255,
                              shared=147456)
                thread.launch(f"void pytorch_flash::flash_bwd_convert_dq_kernel<{traits}>(pytorch_flash::Flash_bwd_params, int)", bytes_time(out.bytes + accumulator.bytes, 0.7),
                              blocks=LENGTH // 64 * BATCH * HEADS, threads=256, registers=48, shared=16384)
                thread.free(accumulator, *results)

    def split_backward(self, joined):
        part = Tensor([BATCH, LENGTH, WIDTH])
        out = Tensor(joined.dims)
        with self.op("aten::cat", TensorList([part, part, part]), Scalar(2), cost=3200):
            self.thread.allocate(out)
            self.thread.launch("void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, "
                               "3, 128, 1>(at::native::(anonymous namespace)::OpaqueType<2u>*, at::native::(anonymous namespace)::CatArrInputTensorMetadata, "
                               "at::native::(anonymous namespace)::TensorSizeStride<unsigned int, 4u>, int, unsigned int)", bytes_time(2 * out.bytes, 0.72), blocks=792, threads=128)
        self.free_after_next(out)

    def mlp(self, x, p, layer):
        with self.thread.module("MLP", f"h.{layer}.mlp", "gpt.py(88): forward"):
            hidden = self.linear(x, p["c_fc.weight"], p["c_fc.bias"], f"h.{layer}.mlp.c_fc")
            active = self.gelu(hidden, f"h.{layer}.mlp.gelu")
            out = self.linear(active, p["c_proj.weight"], p["c_proj.bias"], f"h.{layer}.mlp.c_proj")
            return self.dropout(out, f"h.{layer}.mlp.dropout")

    def transformer_block(self, x, layer):
        p, thread = self.layers[layer], self.thread
        with thread.module("Block", f"h.{layer}", "gpt.py(104): forward"):
            x = self.add(x, self.attention(self.layer_norm(x, p["ln_1.weight"], p["ln_1.bias"], f"h.{layer}.ln_1"), p, layer))
            return self.add(x, self.mlp(self.layer_norm(x, p["ln_2.weight"], p["ln_2.bias"], f"h.{layer}.ln_2"), p, layer))

    def embedding(self, weight, indices, path):
        thread, out = self.thread, Tensor(indices.dims + [WIDTH])
        with thread.module("Embedding", path, "torch/nn/modules/sparse.py(189): forward"), thread.python("<built-in method embedding of type object at 0x7f4b>"):
            sequence = thread.sequence
            with self.op("aten::embedding", weight, indices, Scalar("-1"), Scalar("False"), Scalar("False"), node=True):
                with self.op("aten::index_select", weight, Scalar("0"), indices.view([indices.count]), cost=2300):
                    self.saved(thread.allocate(out))
                    thread.launch("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<"
                                  "c10::BFloat16, unsigned int>, at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, at::cuda::detail::TensorInfo<long const, "
                                  "unsigned int>, int, int, unsigned int, unsigned int, long)", bytes_time(2 * out.bytes, 0.6), blocks=1056, threads=128)
        self.record("EmbeddingBackward0", sequence, lambda: self.embedding_backward(weight, indices, out))
        return out

    def embedding_backward(self, weight, indices, out):
        thread, gradient, dw = self.thread, Tensor(out.dims), Tensor(weight.dims)
        with self.op("aten::embedding_backward", gradient, indices, Scalar(weight.dims[0]), Scalar("-1"), Scalar("False"), Scalar("False")):
            with self.op("aten::embedding_dense_backward", gradient, indices, Scalar(weight.dims[0]), Scalar("-1"), Scalar("False"), cost=3200):
                thread.allocate(dw)
                with self.op("aten::zero_", dw), self.op("aten::fill_", dw, Scalar("0")):
                    self.elementwise("FillFunctor<c10::BFloat16>", dw.bytes, 1)
                thread.fill(4096)
                for name in ("DeviceRadixSortHistogramKernel", "DeviceRadixSortExclusiveSumKernel", "DeviceRadixSortOnesweepKernel", "DeviceRadixSortOnesweepKernel"):
                    thread.launch(f"void at_cuda_detail::cub::{name}<at_cuda_detail::cub::DeviceRadixSortPolicy<long, long, unsigned int>::Policy900, false, long>", 4200,
                                  blocks=96, threads=384, registers=56, shared=41984)
                thread.launch("void at::native::(anonymous namespace)::sum_and_scatter<c10::BFloat16>(long const*, c10::BFloat16*, long, long const*, long const*, float const*, "
                              "long const*, long const*, long, long)", bytes_time(2 * gradient.bytes, 0.45), blocks=2048, threads=128)
        self.accumulate(weight, dw)

    # --- loss -----------------------------------------------------------------------------------------------------------------------------------------
    def loss(self, logits, targets):
        thread = self.thread
        wide = Tensor(logits.dims, "float")
        with thread.python("gpt.py(171): loss"):
            sequence = thread.sequence
            with self.op("aten::to", logits, Scalar("6"), Scalar("False"), Scalar("False"), None):
                with self.op("aten::_to_copy", logits, Scalar("6"), None, None, None, Scalar("False"), None, node=True):
                    self.saved(thread.allocate(wide, "aten::empty_strided"))
                    with self.op("aten::copy_", wide, logits, Scalar("False")):
                        self.elementwise("bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}", wide.bytes + logits.bytes)
            self.record("ToCopyBackward0", sequence, lambda: self.cast_backward(logits, wide))
            flat = self.view(wide, [TOKENS, VOCABULARY])
            probabilities, loss = Tensor([TOKENS, VOCABULARY], "float"), Tensor([], "float")
            with thread.python("torch/nn/functional.py(3475): cross_entropy"), thread.python("<built-in function cross_entropy_loss>"):
                with self.op("aten::cross_entropy_loss", flat, targets, None, Scalar("1"), Scalar("-100"), Scalar("0.")):
                    with self.op("aten::log_softmax", flat, Scalar("1"), None):
                        sequence = thread.sequence
                        with self.op("aten::_log_softmax", flat, Scalar("1"), Scalar("False"), node=True, cost=2600):
                            self.saved(thread.allocate(probabilities, "aten::empty_like"))
                            thread.launch("void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<4, float, float, float, at::native::(anonymous namespace)::"
                                          "LogSoftMaxForwardEpilogue, long>(float*, float const*, long)", bytes_time(2 * wide.bytes, 0.88), blocks=TOKENS, threads=1024, registers=32,
                                          shared=201344)
                    self.record("LogSoftmaxBackward0", sequence, lambda: self.softmax_backward(probabilities), needs_saved=True)
                    with self.op("aten::nll_loss_nd", probabilities, targets, None, Scalar("1"), Scalar("-100")):
                        with self.op("aten::nll_loss", probabilities, targets, None, Scalar("1"), Scalar("-100")):
                            sequence = thread.sequence
                            with self.op("aten::nll_loss_forward", probabilities, targets, None, Scalar("1"), Scalar("-100"), node=True, cost=2600):
                                thread.allocate(loss)
                                self.saved(loss)
                                thread.launch("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, float*, float const*, "
                                              "long const*, float const*, bool, long, long, long, long)", 24600, blocks=1, threads=1024, registers=40, shared=8192)
                    self.record("NllLossBackward0", sequence, lambda: self.nll_backward(probabilities, targets), needs_saved=True)
        return loss

    def nll_backward(self, probabilities, targets):
        gradient = Tensor(probabilities.dims, "float")
        with self.op("aten::nll_loss_backward", Tensor([], "float"), probabilities, targets, None, Scalar("1"), Scalar("-100"), Tensor([], "float"), cost=2600):
            self.thread.allocate(gradient, "aten::zeros_like")
            self.elementwise("FillFunctor<float>", gradient.bytes, 1)
            self.thread.launch("void at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d<float, long>(float*, float const*, long const*, float const*, "
                               "float const*, bool, int, int, long, long)", 18200, blocks=1, threads=1024)
        self.free_after_next(gradient)

    def softmax_backward(self, probabilities):
        gradient = Tensor(probabilities.dims, "float")
        with self.op("aten::_log_softmax_backward_data", gradient, probabilities, Scalar("1"), Scalar("6"), cost=2600):
            self.thread.allocate(gradient, "aten::empty_like")
            self.thread.launch("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>("
                               "float*, float const*, float const*, long)", bytes_time(3 * gradient.bytes, 0.86), blocks=TOKENS, threads=1024, registers=32, shared=128)
        self.free_after_next(gradient)

    def cast_backward(self, logits, wide):
        gradient = Tensor(logits.dims)
        with self.op("aten::to", wide, Scalar("15"), Scalar("False"), Scalar("False"), None), self.op("aten::_to_copy", wide, Scalar("15"), None, None, None, Scalar("False"), None):
            self.thread.allocate(gradient, "aten::empty_strided")
            with self.op("aten::copy_", gradient, wide, Scalar("False")):
                self.elementwise("bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}", wide.bytes + logits.bytes)
        self.free_after_next(gradient)
