# One command of each engine, tied by semaphores; every kind of value appears.
load region=0 dram_offset=0x1000 sram_addr=0x40 n0=16 n1=4 s0=1 s1=64 t0=1 t1=16
    signal0_enable=true signal0_sem=3 signal0_count=1 signal0_point=output_visible
fill elem_log2=2, sram_addr=0x8000, value=0xdeadbeef, n0=8, t0=4
conv mode=depthwise in_signed=1 wait0_enable=1 wait0_sem=3 wait0_count=1 za=-7
    res_a=0.1 res_b=0x1.8p-3 res_k=-inf pool=max pool_k=3 pool_s=2
vrun body=4 lanes=1000 enable_a=true a_type=f16 a_lane_stride=2 a_o1_stride=-2000 store=body
store region=2 n0=64 s0=1 t0=1
.word 0xffffffff 1 2 3
end
