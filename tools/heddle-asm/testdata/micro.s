# A few micro-instructions.
mov v0, imm, imm=1.5
ffma v1, stream_a, v0, arg0
sel v2, valid, v1, v0
rhalf v3, v2
idiv v4, stream_a, arg1
hsum out, v2
