"""One training step of that GPT under data parallelism: batch, forward, loss, backward with bucketed all-reduces, clipping, optimizer."""
from gpt_layers import BATCH, CHECKPOINTED, COLLECTIVES, COMPUTE, COPIES, FEATURES, LAYERS, LENGTH, TOKENS, WIDTH, Block, Model, bytes_time
from profiled_machine import Scalar, ScalarList, Tensor, TensorList

WORLD = 16                                 # two nodes of eight
BUCKET_BYTES = 100 << 20
NETWORK_BYTES_PER_NS = 26.0                # algorithm bandwidth of a large all-reduce over the two nodes


class Trainer(Model):
    def __init__(self, machine, main, autograd):
        super().__init__(machine, main)
        self.autograd = autograd
        self.bucket_bytes, self.bucket_count, self.reduced, self.collective = 0, 0, [], 0

    # --- backward and its collectives -----------------------------------------------------------------------------------------------------------------
    def run_accumulations(self):
        thread, (pending, self.accumulations) = self.thread, (self.accumulations, [])
        for parameter, gradient in pending:
            with self.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", cost=900), thread.operator("torch::autograd::AccumulateGrad", (gradient,), cost=900):
                with self.op("aten::detach", gradient), self.op("detach", gradient, cost=500):
                    pass
                with self.op("torch::distributed::reducer::mul_out", parameter, parameter, Tensor([], "float")), self.op("aten::mul", parameter, Tensor([], "float"), parameter):
                    self.elementwise("AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >", 2 * parameter.bytes)
                thread.free(gradient)
                self.bucket_bytes, self.bucket_count = self.bucket_bytes + parameter.bytes, self.bucket_count + parameter.count
                if self.bucket_bytes >= BUCKET_BYTES or parameter is self.wte:
                    self.reduced.append(self.all_reduce(Tensor([self.bucket_count])))
                    self.bucket_bytes = self.bucket_count = 0

    def collective_facts(self, name, tensor):
        self.collective += 1
        kind = {"c10::BFloat16": "BFloat16", "float": "Float"}[tensor.type_name]
        return {"Collective name": name, "In msg nelems": tensor.count, "Out msg nelems": tensor.count, "Group size": WORLD, "dtype": kind, "In split size": "[]",
                "Out split size": "[]", "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": str(list(range(WORLD)))}

    def communicate(self, function, collective, kernel, tensor, duration, registers=96):
        """A collective of the default group: waits for the compute stream, runs on its own, and returns the event that ends it."""
        thread, facts = self.thread, self.collective_facts(collective, tensor)
        gradients, thread.gradients = thread.gradients, False
        more = {**facts, "Seq": self.collective, "Rank": 0, "Global rank start": 0, "Global rank stride": 1}
        with thread.operator(f"c10d::{function}", (TensorList([tensor]), None, None, None, Scalar("False"), Scalar("-1")), cost=2100):
            arguments = (TensorList([tensor]), ScalarList("[]"), ScalarList(f"['0', 'default_pg']"), Scalar("0"), Scalar(collective), ScalarList("[]"), ScalarList("[]"),
                         Scalar("0"), Scalar("1"), Scalar(WORLD))
            with thread.operator("record_param_comms", arguments, extra=more, cost=2100), thread.annotation(f"nccl:{collective.replace('all', 'all_')}", (tensor,)):
                thread.call("cudaStreamIsCapturing", 500, cbid=317, correlated=False)
                thread.wait_event(COLLECTIVES, thread.record_event(COMPUTE))
                thread.call("cudaStreamGetCaptureInfo_v2", 450, cbid=409, correlated=False)
                thread.launch(kernel, duration, stream=COLLECTIVES, api="cudaLaunchKernelExC", blocks=24, threads=544, registers=registers, shared=82240, extra=facts)
                done = thread.record_event(COLLECTIVES, "cudaEventRecordWithFlags")
        thread.gradients = gradients
        return done

    def all_reduce(self, tensor):
        kind, algorithm = ("bf16", "RING_LL") if tensor.type_name == "c10::BFloat16" else ("f32", "TREE_LL")
        waiting = int(40000 + 160000 * self.machine.random.random())  # for the last of the other ranks
        return self.communicate("allreduce_", "allreduce", f"ncclDevKernel_AllReduce_Sum_{kind}_{algorithm}(ncclDevKernelArgsStorage<4096ul>)", tensor,
                                28000 + waiting + int(tensor.bytes / NETWORK_BYTES_PER_NS))

    def backward(self):
        main, thread = self.main, self.autograd
        self.temporaries, self.accumulations, self.reduced = [], [], []
        thread.now = max(thread.now, main.now + 9000)
        self.thread = thread
        thread.gradients = False
        for node in reversed(self.tape):
            self.run_node(node)
        thread.free(*self.temporaries)
        for event in self.reduced:
            thread.wait_event(COMPUTE, event)
        self.tape = []
        thread.free(*self.activations)
        self.activations = []
        self.thread = main
        main.now = max(main.now, thread.now + 6000)

    def run_node(self, node):
        thread, of = self.thread, (node.sequence, node.thread.forward_thread)
        consumed, self.temporaries = self.temporaries, []
        with thread.operator("autograd::engine::evaluate_function: " + node.name, (), backward_of=of, cost=900):
            with thread.operator(node.name, (Tensor([TOKENS, WIDTH]),), backward_of=of, cost=900) as row:
                if self.machine.recording and node.forward_row is not None:
                    self.machine.arrows.append((node.forward_row, row))
                if node.needs_saved and node.block is not None and not node.block.recomputed:
                    self.recompute(node.block)
                node.backward()
            thread.free(*consumed)
        self.run_accumulations()

    def recompute(self, block):
        thread = self.thread
        block.recomputed = True
        with thread.python("torch/utils/checkpoint.py(1112): unpack_hook"), thread.python("torch/utils/checkpoint.py(1501): recompute_fn"):
            thread.gradients = True
            block.run()
            thread.gradients = False

    # --- the step -------------------------------------------------------------------------------------------------------------------------------------
    def forward(self, tokens, features):
        thread = self.thread
        positions = Tensor([LENGTH], "long int")
        with thread.module("DistributedDataParallel", "ddp", "torch/nn/parallel/distributed.py(1643): forward"), thread.annotation("DistributedDataParallel.forward"):
            buffers = Tensor([4096], "float")
            thread.wait_event(COMPUTE, self.communicate("broadcast_", "broadcast", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", buffers, 21000))
            with thread.module("GPT", "gpt", "gpt.py(140): forward"):
                with self.op("aten::arange", Scalar(LENGTH), Scalar("4"), Scalar("0"), Scalar("0"), Scalar("False"), cost=2600):
                    thread.launch("void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar const&, c10::Scalar const&, "
                                  "c10::Scalar const&, at::Tensor&)::{lambda(long)#1}>(int, long)", 2100, blocks=32, threads=64)
                x = self.add(self.embedding(self.wte, tokens, "wte"), self.embedding(self.wpe, positions, "wpe"))
                x = self.add(x, self.linear(features, self.feature_weight, self.feature_bias, "features"))
                x = self.dropout(x, "drop")
                for layer in range(LAYERS):
                    if layer < CHECKPOINTED:
                        kept, self.activations = self.activations, []
                        with thread.python("torch/utils/checkpoint.py(344): checkpoint"):
                            self.block = Block(lambda layer=layer, x=x: self.transformer_block(x, layer))
                            x = self.transformer_block(x, layer)
                            self.block = None
                        inside, self.activations = self.activations[:-1], kept + self.activations[-1:]
                        thread.free(*inside)
                    else:
                        x = self.transformer_block(x, layer)
                x = self.layer_norm(x, self.norm_weight, self.norm_bias, "ln_f")
                return self.linear(x, self.head, None, "lm_head")

    def next_batch(self, stall):
        thread = self.thread
        with thread.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            with thread.python("torch/utils/data/dataloader.py(741): __next__"), thread.python("torch/utils/data/dataloader.py(1502): _next_data"):
                with thread.python("torch/utils/data/dataloader.py(1326): _try_get_data"), thread.python("queue.py(154): get"):
                    with thread.python("threading.py(355): wait" if stall else "<built-in method popleft of collections.deque>"):
                        thread.spend(stall or 180000)

    def to_device(self, host, kind, bandwidth, stream, non_blocking):
        thread, out = self.thread, Tensor(host.dims, host.type_name)
        with self.op("aten::to", host, Scalar("cuda:0"), Scalar(str(non_blocking)), Scalar("False"), None), self.op("aten::_to_copy", host, None, None, Scalar("cuda:0"), None,
                                                                                                                Scalar(str(non_blocking)), None):
            self.saved(thread.allocate(out, "aten::empty_strided"))
            with self.op("aten::copy_", out, host, Scalar(str(non_blocking)), cost=2600):
                thread.copy(kind, host.bytes, bandwidth, stream)
                if not non_blocking:
                    thread.synchronize(stream)
        return out

    def item(self, value):
        thread = self.thread
        with thread.python("<method 'item' of 'torch._C.TensorBase' objects>"), self.op("aten::item", value), self.op("aten::_local_scalar_dense", value, cost=2600):
            thread.copy("DtoH (Device -> Pageable)", 4, 0.01)
            thread.synchronize(COMPUTE)

    def norm_kernel(self, size, blocks=256):
        self.thread.launch("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::NormTwoOps<c10::BFloat16, float, c10::BFloat16>, unsigned int, "
                           "c10::BFloat16, 4, 4> >(at::native::ReduceOp)", bytes_time(size, 0.7), blocks=blocks, threads=512, registers=32, shared=2064)

    def log_gradient_norms(self):
        """What a careful team adds to its loop and forgets: one norm and one .item() per parameter. Short kernels, and the host waits for each of them."""
        thread = self.thread
        with thread.python("train_gpt.py(74): log_gradient_norms"):
            for parameter in self.parameters:
                with self.op("aten::linalg_vector_norm", parameter, Scalar("2."), None, Scalar("False"), None, cost=7800):
                    self.norm_kernel(parameter.bytes)
                self.item(Tensor([]))
                thread.spend(27000)  # a name formatted, a number printed, a dictionary filled

    def clip_gradients(self):
        thread, gradients = self.thread, TensorList(self.parameters)
        with thread.python("torch/nn/utils/clip_grad.py(167): clip_grad_norm_"):
            with self.op("aten::_foreach_norm", gradients, Scalar("2."), None, cost=42000):
                for part in range(0, len(gradients), 31):
                    thread.launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous "
                                  "namespace)::LpNormFunctor<c10::BFloat16, (at::native::NormType)1, float, 1, 1, 0>, float*, int>",
                                  bytes_time(sum(p.bytes for p in gradients[part:part + 31]), 0.8), blocks=320, threads=512)
            norms = TensorList([Tensor([]) for _ in gradients])
            with self.op("aten::stack", norms, Scalar("0"), cost=30000), self.op("aten::cat", norms, Scalar("0"), cost=20000):
                thread.launch("void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 1, 128, 1>", 3100, blocks=132)
            with self.op("aten::linalg_vector_norm", Tensor([len(norms)]), Scalar("2."), None, Scalar("False"), None, cost=7800):
                self.norm_kernel(2 * len(norms), 1)
            for name, functor in (("aten::add", "CUDAFunctorOnSelf_add<c10::BFloat16>"), ("aten::reciprocal", "reciprocal_kernel_cuda"), ("aten::mul", "MulFunctor<float>"),
                                  ("aten::clamp", "launch_clamp_scalar")):
                with self.op(name, Tensor([]), Scalar("1e-06"), cost=2600):
                    self.elementwise(functor, 64)
            with self.op("aten::_foreach_mul_", gradients, Tensor([]), cost=42000):
                for part in range(0, len(gradients), 31):
                    thread.launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous "
                                  "namespace)::BinaryOpScalarTensorFunctor<c10::BFloat16, 1, 1, 0>, std::multiplies<float>, float*, float>",
                                  bytes_time(2 * sum(p.bytes for p in gradients[part:part + 31]), 0.8), blocks=320, threads=512)

    def optimizer_step(self):
        thread, parameters = self.thread, TensorList(self.parameters)
        with thread.python("torch/optim/optimizer.py(495): wrapper"), thread.annotation("Optimizer.step#AdamW.step"), thread.python("torch/optim/adamw.py(202): step"):
            steps = TensorList([Tensor([], "float") for _ in self.parameters])
            with thread.python("torch/optim/adam.py(711): _fused_adam"):
                with self.op("aten::_foreach_add_", steps, Scalar("1"), cost=34000):
                    thread.launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous "
                                  "namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::plus<float>, float>", 3600, blocks=len(self.parameters), threads=512)
                with self.op("aten::_fused_adamw_", parameters, parameters, parameters, parameters, TensorList([]), steps, Scalar("0.00029999999999999997"),
                             Scalar("0.90000000000000002"), Scalar("0.94999999999999996"), Scalar("0.10000000000000001"), Scalar("1e-08"), Scalar("False"), Scalar("False"), None, None,
                             cost=60000):
                    count = sum(p.count for p in self.parameters)
                    chunk = 320 * 65536
                    while count > 0:
                        part = min(count, chunk)
                        thread.launch("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
                                      "at::native::(anonymous namespace)::FusedAdamMathFunctor<c10::BFloat16, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, double, "
                                      "double, double, bool, float*, float*, (at::native::ADAM_MODE)1>", bytes_time(14 * part, 0.83), blocks=max(1, part // 65536), threads=512,
                                      registers=60)
                        thread.spend(14000)
                        count -= part
        with thread.python("torch/optim/lr_scheduler.py(152): step"):
            thread.spend(21000)

    def load_batch(self, stall=0):
        thread = self.thread
        with thread.python("train_gpt.py(96): load_batch"):
            self.next_batch(stall)
            features = self.to_device(Tensor([BATCH, LENGTH, FEATURES]), "HtoD (Pinned -> Device)", 53.0, COPIES, True)
            tokens = self.to_device(Tensor([BATCH, LENGTH], "long int"), "HtoD (Pinned -> Device)", 31.0, COPIES, True)
            thread.wait_event(COMPUTE, thread.record_event(COPIES))
            self.to_device(Tensor([BATCH, LENGTH], "float"), "HtoD (Pageable -> Device)", 5.5, COMPUTE, False)
        self.batch = tokens, features

    def step(self, number, stall=0):
        """A step trains on the batch that is there, then loads the next one: that is where it may have to wait for the data loader."""
        thread = self.thread
        with thread.annotation(f"ProfilerStep#{number}"):
            with thread.python("torch/optim/optimizer.py(982): zero_grad"), thread.annotation("Optimizer.zero_grad#AdamW.zero_grad"):
                thread.spend(60000)
            with thread.python("train_gpt.py(112): train_step"):
                logits = self.forward(*self.batch)
                loss = self.loss(logits, Tensor([TOKENS], "long int"))
                with thread.python("torch/_tensor.py(581): backward"), thread.python("torch/autograd/graph.py(824): _engine_run_backward"):
                    with thread.python("<built-in method run_backward of torch._C._EngineBase object at 0x7f4b>"):
                        with self.op("aten::ones_like", loss, Scalar("6"), Scalar("0"), Scalar("0"), Scalar("False"), Scalar("1"), cost=2600), self.op("aten::fill_", loss, Scalar("1")):
                            self.elementwise("FillFunctor<float>", 64, 1)
                        self.backward()
                with thread.python("train_gpt.py(121): average_loss"):
                    thread.wait_event(COMPUTE, self.all_reduce(Tensor([1], "float")))
                    self.item(Tensor([1], "float"))
                thread.gradients = False
                self.log_gradient_norms()
                self.clip_gradients()
                self.optimizer_step()
                thread.gradients = True
            self.load_batch(stall)
            thread.spend(90000)
