# A few micro-instructions.
mov v0, imm, imm=1.5
ffma v1, stream_a, v0, arg0
sel v2, valid, v1, v0
hsum out, v2
