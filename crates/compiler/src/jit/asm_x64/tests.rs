//! Bytes of instructions, compared with those of an assembler.

use super::*;

/// Each instruction with its bytes, which `objdump -D -b binary -mi386:x86-64 -Mintel` reads as
/// what is written before them.
#[test]
fn instructions_are_the_bytes_that_the_manual_says() {
    let cases: Vec<(&str, Vec<u8>)> = cases().into_iter().map(|(text, asm)| (text, asm.finish())).collect();
    let made: Vec<String> = cases.iter().map(|(text, bytes)| format!("{text:48}{}", hex(bytes))).collect();
    let known: Vec<&str> = KNOWN.lines().map(str::trim_end).collect();
    assert_eq!(made, known);
}

/// The sequences of instructions, those of AVX2 first, read back by the same command.
#[test]
fn sequences_are_the_bytes_that_the_manual_says() {
    let mut made = String::new();
    for (title, asm) in sequences() {
        made += &format!("{title}: {}\n", hex(&asm.finish()));
    }
    let known: String = KNOWN_SEQUENCES
        .lines()
        .filter(|line| !line.starts_with(' '))
        .fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(made, known);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}

const KNOWN: &str = "\
vmovupd zmm3, [rsi + 8*rax]                     62 f1 fd 48 10 5c c6 00
vmovups zmm29 {k1} {z}, [r13 + 4*rax]           62 41 7c c9 10 6c 85 00
vmovupd [r14 + 8*rax] {k1}, zmm12               62 51 fd 49 11 64 c6 00
vmovups [rsi + 4*rax], zmm29                    62 61 7c 48 11 6c 86 00
vpmovzxbq zmm29 {k1} {z}, [r13 + rax]           62 42 7d c9 32 6c 05 00
vpmovzxdq zmm3, [rsi + 4*rax]                   62 f2 7d 48 35 5c 86 00
vpmovsxwq zmm29 {k1} {z}, [r13 + 2*rax]         62 42 7d c9 24 6c 45 00
vcvtps2pd zmm3, [rsi + 4*rax]                   62 f1 7c 48 5a 5c 86 00
vpmovqw [rsi + 2*rax], zmm29                    62 62 7e 48 34 6c 46 00
vpmovqd [r14 + 4*rax] {k1}, zmm12               62 52 7e 49 35 64 86 00
vbroadcastsd zmm29, qword ptr [rdi + 24]        62 62 fd 48 19 af 18 00 00 00
vbroadcastss zmm3, dword ptr [rdi + 800]        62 f2 7d 48 18 9f 20 03 00 00
vmovupd [rdi - 128], zmm29                      62 61 fd 48 11 af 80 ff ff ff
vmovupd zmm12, [rdi - 64]                       62 71 fd 48 10 a7 c0 ff ff ff
vmovapd zmm12, zmm29                            62 11 fd 48 28 e5
vaddpd zmm29, zmm12, zmm3                       62 61 9d 48 58 eb
vsubps zmm3, zmm29, zmm12                       62 d1 14 40 5c dc
vmulpd zmm3 {k1}, zmm3, zmm29                   62 91 e5 49 59 dd
vdivps zmm3, zmm12, zmm12                       62 d1 1c 48 5e dc
vminpd zmm3, zmm12, zmm29                       62 91 9d 48 5d dd
vmaxps zmm29, zmm3, zmm12                       62 41 64 48 5f ec
vpaddq zmm29, zmm29, zmm3                       62 61 95 40 d4 eb
vpaddd zmm29, zmm29, zmm3                       62 61 15 40 fe eb
vpsubq zmm3, zmm12, zmm29                       62 91 9d 48 fb dd
vpsubd zmm3, zmm12, zmm29                       62 91 1d 48 fa dd
vpandq zmm3, zmm12, zmm29                       62 91 9d 48 db dd
vpord zmm3, zmm12, zmm29                        62 91 1d 48 eb dd
vpxorq zmm3, zmm12, zmm29                       62 91 9d 48 ef dd
vsqrtpd zmm3, zmm29                             62 91 fd 48 51 dd
vsqrtps zmm29, zmm12                            62 41 7c 48 51 ec
vrndscalepd zmm3, zmm29, 9                      62 93 fd 48 09 dd 09
vrndscaleps zmm12, zmm3, 11                     62 73 7d 48 08 e3 0b
vpternlogq zmm3, zmm29, zmm29, 85               62 93 95 40 25 dd 55
vfmadd231pd zmm29 {k1}, zmm12, zmm3             62 62 9d 49 b8 eb
vcmppd k3, zmm12, zmm29, 17                     62 91 9d 48 c2 dd 11
vcmpps k7, zmm29, zmm3, 4                       62 f1 14 40 c2 fb 04
vblendmpd zmm3 {k2}, zmm29, zmm12               62 d2 95 42 65 dc
vblendmps zmm3 {k7}, zmm29, zmm12               62 d2 15 47 65 dc
vpmullq zmm29, zmm12, zmm3                      62 62 9d 48 40 eb
vpmulld zmm3, zmm12, zmm29                      62 92 1d 48 40 dd
vpmuludq zmm3, zmm12, zmm29                     62 91 9d 48 f4 dd
vpmuldq zmm29, zmm12, zmm3                      62 62 9d 48 28 eb
vpsrlq zmm3, zmm29, 32                          62 91 e5 48 73 d5 20
vpsllq zmm29, zmm12, 7                          62 d1 95 40 73 f4 07
vpminsq zmm3 {k1}, zmm3, zmm29                  62 92 e5 49 39 dd
vpmaxsd zmm3, zmm12, zmm29                      62 92 1d 48 3d dd
vpminuq zmm3, zmm12, zmm29                      62 92 9d 48 3b dd
vpmaxuq zmm3, zmm12, zmm29                      62 92 9d 48 3f dd
vpsllvq zmm3, zmm12, zmm29                      62 92 9d 48 47 dd
vpsrlvd zmm3, zmm12, zmm29                      62 92 1d 48 45 dd
vbroadcastsd zmm29 {k3} {z}, [rdi + 24]         62 62 fd cb 19 af 18 00 00 00
vbroadcastss zmm29 {k3} {z}, [rdi + 24]         62 62 7d cb 18 af 18 00 00 00
vcvtqq2pd zmm29, zmm3                           62 61 fe 48 e6 eb
vcvtuqq2pd zmm3, zmm12                          62 d1 fe 48 7a dc
vcvttpd2qq zmm3, zmm29                          62 91 fd 48 7a dd
vcvtdq2ps zmm29, zmm3                           62 61 7c 48 5b eb
vcvtudq2ps zmm29, zmm3                          62 61 7f 48 7a eb
vpmovsxbd zmm29 {k1} {z}, [r13 + rax]           62 42 7d c9 21 6c 05 00
vpmovzxwd zmm3, [rsi + 2*rax]                   62 f2 7d 48 33 5c 46 00
vpmovdb [r13 + rax] {k1}, zmm29                 62 42 7e 49 31 6c 05 00
vpmovdw [rsi + 2*rax], zmm3                     62 f2 7e 48 33 5c 46 00
vcvttps2dq zmm29, zmm3                          62 61 7e 48 5b eb
vpopcntq zmm3, zmm29                            62 92 fd 48 55 dd
vpcmpq k3, zmm12, zmm29, 1                      62 93 9d 48 1f dd 01
vpcmpud k7, zmm29, zmm3, 2                      62 f3 15 40 1e fb 02
vptestmq k3, zmm29, zmm29                       62 92 95 40 27 dd
kandw k2, k3, k4                                c5 e4 41 d4
korw k7, k2, k6                                 c5 ec 45 fe
knotw k5, k2                                    c5 f8 44 ea
kandnw k2, k3, k4                               c5 e4 42 d4
kxnorw k5, k5, k5                               c5 d4 46 ed
kxorw k2, k2, k2                                c5 ec 47 d2
kmovw word ptr [rdi - 128], k3                  c5 f8 91 9f 80 ff ff ff
kmovw k5, word ptr [rdi - 64]                   c5 f8 90 af c0 ff ff ff
vpsraq zmm29, zmm3, 7                           62 f1 95 40 72 e3 07
mov qword ptr [rdi + 16], 1                     48 c7 87 10 00 00 00 01 00 00 00
kortestb k3, k3; jne -10                        c5 f9 98 db 0f 85 f6 ff ff ff
jmp -5                                          e9 fb ff ff ff
kmovw k1, word ptr [rdi + 8]                    c5 f8 90 8f 08 00 00 00
mov r13, [rdi + 40]                             4c 8b af 28 00 00 00
push r14                                        41 56
pop r14                                         41 5e
xor eax, eax                                    31 c0
add rax, 16                                     48 83 c0 10
cmp rax, [rdi]; jb -13                          48 3b 87 00 00 00 00 0f 82 f3 ff ff ff
cmp rax, [rdi + 8]; jae 1; ret                  48 3b 87 08 00 00 00 0f 83 01 00 00 00 c3
kortestw k3, k3; je 1; ret                      c5 f8 98 db 0f 84 01 00 00 00 c3
kortestb k3, k3; jne 1; ret                     c5 f9 98 db 0f 85 01 00 00 00 c3
jmp 1; ret                                      e9 01 00 00 00 c3
mov r11, [rdi + 16]; cmp byte ptr [r11], 0; jne 1; ret4c 8b 9f 10 00 00 00 41 80 3b 00 0f 85 01 00 00 00 c3
cmp qword ptr [rdi + 8], 0; je 3; vzeroupper    48 81 bf 08 00 00 00 00 00 00 00 0f 84 03 00 00 00 c5 f8 77";

const KNOWN_SEQUENCES: &str = "\
load: c4 41 7d 10 64 c5 00
    vmovupd ymm12,YMMWORD PTR [r13+rax*8+0x0]
load of lanes: c4 62 35 2c 64 86 00
    vmaskmovps ymm12,ymm9,YMMWORD PTR [rsi+rax*4+0x0]
store: c4 e1 7c 11 5c 86 00
    vmovups YMMWORD PTR [rsi+rax*4+0x0],ymm3
store of lanes: c4 42 35 2f 64 c5 00
    vmaskmovpd YMMWORD PTR [r13+rax*8+0x0],ymm9,ymm12
load narrow: c4 42 7d 34 64 45 00
    vpmovzxwq ymm12,QWORD PTR [r13+rax*2+0x0]
load narrow of lanes: c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 43 19 20 64 05 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 43 19 20 64 05 01 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 43 19 20 64 05 02 02 41 f6 c3 08 0f 84 08 00 00 00 c4 43 19 20 64 05 03 03 c4 42 7d 32 e4
    vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x1],0x1; test r11b,0x4; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x2],0x2; test r11b,0x8; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x3],0x3; vpmovzxbq ymm12,xmm12
load 2 narrow of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e1 61 c4 5c 46 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e1 61 c4 5c 46 02 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e1 61 c4 5c 46 04 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e1 61 c4 5c 46 06 03 c4 e2 7d 34 db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x2],0x1; test r11b,0x4; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x4],0x2; test r11b,0x8; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x6],0x3; vpmovzxwq ymm3,xmm3
load 4 narrow of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e3 61 22 5c 86 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e3 61 22 5c 86 04 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e3 61 22 5c 86 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e3 61 22 5c 86 0c 03 c4 e2 7d 35 db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x4],0x1; test r11b,0x4; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x8],0x2; test r11b,0x8; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0xc],0x3; vpmovzxdq ymm3,xmm3
load narrow with sign: c4 42 7d 25 64 85 00
    vpmovsxdq ymm12,XMMWORD PTR [r13+rax*4+0x0]
load narrow with sign of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e1 61 c4 5c 46 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e1 61 c4 5c 46 02 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e1 61 c4 5c 46 04 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e1 61 c4 5c 46 06 03 c4 e2 7d 24 db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x2],0x1; test r11b,0x4; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x4],0x2; test r11b,0x8; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x6],0x3; vpmovsxwq ymm3,xmm3
load singles: c4 41 7c 5a 64 85 00
    vcvtps2pd ymm12,XMMWORD PTR [r13+rax*4+0x0]
load singles of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e3 61 22 5c 86 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e3 61 22 5c 86 04 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e3 61 22 5c 86 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e3 61 22 5c 86 0c 03 c4 e1 7c 5a db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x4],0x1; test r11b,0x4; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x8],0x2; test r11b,0x8; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0xc],0x3; vcvtps2pd ymm3,xmm3
store singles: c4 c1 7d 5a dc c4 c1 78 11 5c 85 00
    vcvtpd2ps xmm3,ymm12; vmovups XMMWORD PTR [r13+rax*4+0x0],xmm3
store singles of lanes: c4 61 7d 5a e3 c4 41 7d 50 d9 41 f6 c3 01 0f 84 08 00 00 00 c4 63 79 16 64 86 00 00 41 f6 c3 02 0f 84 08 00 00 00 c4 63 79 16 64 86 04 01 41 f6 c3 04 0f 84 08 00 00 00 c4 63 79 16 64 86 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 63 79 16 64 86 0c 03
    vcvtpd2ps xmm12,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x1c;
    vpextrd DWORD PTR [rsi+rax*4+0x0],xmm12,0x0; test r11b,0x2; je 0x2e;
    vpextrd DWORD PTR [rsi+rax*4+0x4],xmm12,0x1; test r11b,0x4; je 0x40;
    vpextrd DWORD PTR [rsi+rax*4+0x8],xmm12,0x2; test r11b,0x8; je 0x52;
    vpextrd DWORD PTR [rsi+rax*4+0xc],xmm12,0x3
round to singles: c4 c1 7d 5a dc c4 e1 7c 5a db
    vcvtpd2ps xmm3,ymm12; vcvtps2pd ymm3,xmm3
signed product of halves: c4 62 e5 28 e6
    vpmuldq ymm12,ymm3,ymm6
convert short: c4 c1 7c 5b dc
truncate single: c4 61 7e 5b e3
    vcvttps2dq ymm12,ymm3
load 1 short: c4 e2 7d 31 5c 06 00
    vpmovzxbd ymm3,QWORD PTR [rsi+rax*1+0x0]
load 1 short of lanes: c4 41 1d ef e4 c4 41 7c 50 d9 41 f6 c3 01 0f 84 86 00 00 00 c4 43 19 20 64 05 00 00 41 f6 c3 02 0f 84 74 00 00 00 c4 43 19 20 64 05 01 01 41 f6 c3 04 0f 84 62 00 00 00 c4 43 19 20 64 05 02 02 41 f6 c3 08 0f 84 50 00 00 00 c4 43 19 20 64 05 03 03 41 f6 c3 10 0f 84 3e 00 00 00 c4 43 19 20 64 05 04 04 41 f6 c3 20 0f 84 2c 00 00 00 c4 43 19 20 64 05 05 05 41 f6 c3 40 0f 84 1a 00 00 00 c4 43 19 20 64 05 06 06 41 f6 c3 80 0f 84 08 00 00 00 c4 43 19 20 64 05 07 07 c4 42 7d 21 e4
    vpxor ymm12,ymm12,ymm12; vmovmskps r11d,ymm9; test r11b,0x1; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x0],0x0; test r11b,0x2; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x1],0x1; test r11b,0x4; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x2],0x2; test r11b,0x8; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x3],0x3; test r11b,0x10; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x4],0x4; test r11b,0x20; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x5],0x5; test r11b,0x40; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x6],0x6; test r11b,0x80; je 0x9a;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x7],0x7; vpmovsxbd ymm12,xmm12
load 2 short of lanes: c4 e1 65 ef db c4 41 7c 50 d9 41 f6 c3 01 0f 84 86 00 00 00 c4 e1 61 c4 5c 46 00 00 41 f6 c3 02 0f 84 74 00 00 00 c4 e1 61 c4 5c 46 02 01 41 f6 c3 04 0f 84 62 00 00 00 c4 e1 61 c4 5c 46 04 02 41 f6 c3 08 0f 84 50 00 00 00 c4 e1 61 c4 5c 46 06 03 41 f6 c3 10 0f 84 3e 00 00 00 c4 e1 61 c4 5c 46 08 04 41 f6 c3 20 0f 84 2c 00 00 00 c4 e1 61 c4 5c 46 0a 05 41 f6 c3 40 0f 84 1a 00 00 00 c4 e1 61 c4 5c 46 0c 06 41 f6 c3 80 0f 84 08 00 00 00 c4 e1 61 c4 5c 46 0e 07 c4 e2 7d 23 db
    vpxor ymm3,ymm3,ymm3; vmovmskps r11d,ymm9; test r11b,0x1; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x0],0x0; test r11b,0x2; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x2],0x1; test r11b,0x4; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x4],0x2; test r11b,0x8; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x6],0x3; test r11b,0x10; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x8],0x4; test r11b,0x20; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0xa],0x5; test r11b,0x40; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0xc],0x6; test r11b,0x80; je 0x9a;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0xe],0x7; vpmovsxwd ymm3,xmm3
store 1 short: c4 c1 05 72 f4 18 c4 c1 05 72 d7 18 c4 42 05 2b ff c4 43 fd 00 ff 08 c4 41 01 67 ff c4 41 79 d6 7c 05 00
    vpslld ymm15,ymm12,0x18; vpsrld ymm15,ymm15,0x18; vpackusdw ymm15,ymm15,ymm15;
    vpermq ymm15,ymm15,0x8; vpackuswb xmm15,xmm15,xmm15; vmovq QWORD PTR [r13+rax*1+0x0],xmm15
store 2 short: c4 e1 05 72 f3 10 c4 c1 05 72 d7 10 c4 42 05 2b ff c4 43 fd 00 ff 08 c4 61 78 11 7c 46 00
    vpslld ymm15,ymm3,0x10; vpsrld ymm15,ymm15,0x10; vpackusdw ymm15,ymm15,ymm15;
    vpermq ymm15,ymm15,0x8; vmovups XMMWORD PTR [rsi+rax*2+0x0],xmm15
store 1 short of lanes: c4 c1 05 72 f4 18 c4 c1 05 72 d7 18 c4 42 05 2b ff c4 43 fd 00 ff 08 c4 41 01 67 ff c4 41 7c 50 d9 41 f6 c3 01 0f 84 08 00 00 00 c4 63 79 14 7c 06 00 00 41 f6 c3 02 0f 84 08 00 00 00 c4 63 79 14 7c 06 01 01 41 f6 c3 04 0f 84 08 00 00 00 c4 63 79 14 7c 06 02 02 41 f6 c3 08 0f 84 08 00 00 00 c4 63 79 14 7c 06 03 03 41 f6 c3 10 0f 84 08 00 00 00 c4 63 79 14 7c 06 04 04 41 f6 c3 20 0f 84 08 00 00 00 c4 63 79 14 7c 06 05 05 41 f6 c3 40 0f 84 08 00 00 00 c4 63 79 14 7c 06 06 06 41 f6 c3 80 0f 84 08 00 00 00 c4 63 79 14 7c 06 07 07
    vpslld ymm15,ymm12,0x18; vpsrld ymm15,ymm15,0x18; vpackusdw ymm15,ymm15,ymm15;
    vpermq ymm15,ymm15,0x8; vpackuswb xmm15,xmm15,xmm15; vmovmskps r11d,ymm9; test r11b,0x1;
    je 0x33; vpextrb BYTE PTR [rsi+rax*1+0x0],xmm15,0x0; test r11b,0x2; je 0x45;
    vpextrb BYTE PTR [rsi+rax*1+0x1],xmm15,0x1; test r11b,0x4; je 0x57;
    vpextrb BYTE PTR [rsi+rax*1+0x2],xmm15,0x2; test r11b,0x8; je 0x69;
    vpextrb BYTE PTR [rsi+rax*1+0x3],xmm15,0x3; test r11b,0x10; je 0x7b;
    vpextrb BYTE PTR [rsi+rax*1+0x4],xmm15,0x4; test r11b,0x20; je 0x8d;
    vpextrb BYTE PTR [rsi+rax*1+0x5],xmm15,0x5; test r11b,0x40; je 0x9f;
    vpextrb BYTE PTR [rsi+rax*1+0x6],xmm15,0x6; test r11b,0x80; je 0xb1;
    vpextrb BYTE PTR [rsi+rax*1+0x7],xmm15,0x7
store 2 short of lanes: c4 e1 05 72 f3 10 c4 c1 05 72 d7 10 c4 42 05 2b ff c4 43 fd 00 ff 08 c4 41 7c 50 d9 41 f6 c3 01 0f 84 08 00 00 00 c4 43 79 15 7c 45 00 00 41 f6 c3 02 0f 84 08 00 00 00 c4 43 79 15 7c 45 02 01 41 f6 c3 04 0f 84 08 00 00 00 c4 43 79 15 7c 45 04 02 41 f6 c3 08 0f 84 08 00 00 00 c4 43 79 15 7c 45 06 03 41 f6 c3 10 0f 84 08 00 00 00 c4 43 79 15 7c 45 08 04 41 f6 c3 20 0f 84 08 00 00 00 c4 43 79 15 7c 45 0a 05 41 f6 c3 40 0f 84 08 00 00 00 c4 43 79 15 7c 45 0c 06 41 f6 c3 80 0f 84 08 00 00 00 c4 43 79 15 7c 45 0e 07
    vpslld ymm15,ymm3,0x10; vpsrld ymm15,ymm15,0x10; vpackusdw ymm15,ymm15,ymm15;
    vpermq ymm15,ymm15,0x8; vmovmskps r11d,ymm9; test r11b,0x1; je 0x2e;
    vpextrw WORD PTR [r13+rax*2+0x0],xmm15,0x0; test r11b,0x2; je 0x40;
    vpextrw WORD PTR [r13+rax*2+0x2],xmm15,0x1; test r11b,0x4; je 0x52;
    vpextrw WORD PTR [r13+rax*2+0x4],xmm15,0x2; test r11b,0x8; je 0x64;
    vpextrw WORD PTR [r13+rax*2+0x6],xmm15,0x3; test r11b,0x10; je 0x76;
    vpextrw WORD PTR [r13+rax*2+0x8],xmm15,0x4; test r11b,0x20; je 0x88;
    vpextrw WORD PTR [r13+rax*2+0xa],xmm15,0x5; test r11b,0x40; je 0x9a;
    vpextrw WORD PTR [r13+rax*2+0xc],xmm15,0x6; test r11b,0x80; je 0xac;
    vpextrw WORD PTR [r13+rax*2+0xe],xmm15,0x7
store 4: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 41 78 11 7c 85 00
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88;
    vmovups XMMWORD PTR [r13+rax*4+0x0],xmm15
store 2: c4 c3 7d 39 df 01 c4 41 60 c6 ff 88 c4 c1 01 72 f7 10 c4 c1 01 72 d7 10 c4 42 01 2b ff c4 61 79 d6 7c 46 00
    vextracti128 xmm15,ymm3,0x1; vshufps xmm15,xmm3,xmm15,0x88; vpslld xmm15,xmm15,0x10;
    vpsrld xmm15,xmm15,0x10; vpackusdw xmm15,xmm15,xmm15; vmovq QWORD PTR [rsi+rax*2+0x0],xmm15
store 1: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 c1 01 72 f7 18 c4 c1 01 72 d7 18 c4 42 01 2b ff c4 41 01 67 ff c4 41 79 7e 7c 05 00
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vpslld xmm15,xmm15,0x18;
    vpsrld xmm15,xmm15,0x18; vpackusdw xmm15,xmm15,xmm15; vpackuswb xmm15,xmm15,xmm15;
    vmovd DWORD PTR [r13+rax*1+0x0],xmm15
store 4 of lanes: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 41 7d 50 d9 41 f6 c3 01 0f 84 08 00 00 00 c4 43 79 16 7c 85 00 00 41 f6 c3 02 0f 84 08 00 00 00 c4 43 79 16 7c 85 04 01 41 f6 c3 04 0f 84 08 00 00 00 c4 43 79 16 7c 85 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 43 79 16 7c 85 0c 03
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vmovmskpd r11d,ymm9;
    test r11b,0x1; je 0x23; vpextrd DWORD PTR [r13+rax*4+0x0],xmm15,0x0; test r11b,0x2; je 0x35;
    vpextrd DWORD PTR [r13+rax*4+0x4],xmm15,0x1; test r11b,0x4; je 0x47;
    vpextrd DWORD PTR [r13+rax*4+0x8],xmm15,0x2; test r11b,0x8; je 0x59;
    vpextrd DWORD PTR [r13+rax*4+0xc],xmm15,0x3
store 1 of lanes: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 c1 01 72 f7 18 c4 c1 01 72 d7 18 c4 42 01 2b ff c4 41 01 67 ff c4 41 7d 50 d9 41 f6 c3 01 0f 84 08 00 00 00 c4 63 79 14 7c 06 00 00 41 f6 c3 02 0f 84 08 00 00 00 c4 63 79 14 7c 06 01 01 41 f6 c3 04 0f 84 08 00 00 00 c4 63 79 14 7c 06 02 02 41 f6 c3 08 0f 84 08 00 00 00 c4 63 79 14 7c 06 03 03
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vpslld xmm15,xmm15,0x18;
    vpsrld xmm15,xmm15,0x18; vpackusdw xmm15,xmm15,xmm15; vpackuswb xmm15,xmm15,xmm15;
    vmovmskpd r11d,ymm9; test r11b,0x1; je 0x39; vpextrb BYTE PTR [rsi+rax*1+0x0],xmm15,0x0;
    test r11b,0x2; je 0x4b; vpextrb BYTE PTR [rsi+rax*1+0x1],xmm15,0x1; test r11b,0x4; je 0x5d;
    vpextrb BYTE PTR [rsi+rax*1+0x2],xmm15,0x2; test r11b,0x8; je 0x6f;
    vpextrb BYTE PTR [rsi+rax*1+0x3],xmm15,0x3
load strided: 4c 69 d0 18 00 00 00 4d 01 ea c4 41 7b 10 a2 00 00 00 00 c4 41 19 16 a2 18 00 00 00 c4 c1 7b 10 9a 30 00 00 00 c4 c1 61 16 9a 48 00 00 00 c4 63 1d 18 e3 01
    imul r10,rax,0x18; add r10,r13; vmovsd xmm12,QWORD PTR [r10+0x0];
    vmovhpd xmm12,xmm12,QWORD PTR [r10+0x18]; vmovsd xmm3,QWORD PTR [r10+0x30];
    vmovhpd xmm3,xmm3,QWORD PTR [r10+0x48]; vinsertf128 ymm12,ymm12,xmm3,0x1
load strided of lanes: 4c 69 d0 f8 ff ff ff 49 01 f2 c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 4e 00 00 00 c4 41 7b 10 a2 00 00 00 00 41 f6 c3 02 0f 84 3b 00 00 00 c4 41 19 16 a2 f8 ff ff ff 41 f6 c3 04 0f 84 28 00 00 00 c4 c1 7b 10 9a f0 ff ff ff c4 63 1d 18 e3 01 41 f6 c3 08 0f 84 0f 00 00 00 c4 c1 61 16 9a e8 ff ff ff c4 63 1d 18 e3 01
    imul r10,rax,0xfffffffffffffff8; add r10,rsi; vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9;
    test r11b,0x1; je 0x6c; vmovsd xmm12,QWORD PTR [r10+0x0]; test r11b,0x2; je 0x6c;
    vmovhpd xmm12,xmm12,QWORD PTR [r10-0x8]; test r11b,0x4; je 0x6c;
    vmovsd xmm3,QWORD PTR [r10-0x10]; vinsertf128 ymm12,ymm12,xmm3,0x1; test r11b,0x8; je 0x6c;
    vmovhpd xmm3,xmm3,QWORD PTR [r10-0x18]; vinsertf128 ymm12,ymm12,xmm3,0x1
load strided of 4 bytes of lanes: 4c 69 d0 0c 00 00 00 49 01 f2 c4 41 1d ef e4 c4 41 7c 50 d9 41 f6 c3 01 0f 84 b3 00 00 00 c4 43 19 22 a2 00 00 00 00 00 41 f6 c3 02 0f 84 9f 00 00 00 c4 43 19 22 a2 0c 00 00 00 01 41 f6 c3 04 0f 84 8b 00 00 00 c4 43 19 22 a2 18 00 00 00 02 41 f6 c3 08 0f 84 77 00 00 00 c4 43 19 22 a2 24 00 00 00 03 41 f6 c3 10 0f 84 63 00 00 00 c4 e1 65 ef db c4 c3 61 22 9a 30 00 00 00 00 c4 63 1d 18 e3 01 41 f6 c3 20 0f 84 44 00 00 00 c4 c3 61 22 9a 3c 00 00 00 01 c4 63 1d 18 e3 01 41 f6 c3 40 0f 84 2a 00 00 00 c4 c3 61 22 9a 48 00 00 00 02 c4 63 1d 18 e3 01 41 f6 c3 80 0f 84 10 00 00 00 c4 c3 61 22 9a 54 00 00 00 03 c4 63 1d 18 e3 01
    imul r10,rax,0xc; add r10,rsi; vpxor ymm12,ymm12,ymm12; vmovmskps r11d,ymm9; test r11b,0x1;
    je 0xd1; vpinsrd xmm12,xmm12,DWORD PTR [r10+0x0],0x0; test r11b,0x2; je 0xd1;
    vpinsrd xmm12,xmm12,DWORD PTR [r10+0xc],0x1; test r11b,0x4; je 0xd1;
    vpinsrd xmm12,xmm12,DWORD PTR [r10+0x18],0x2; test r11b,0x8; je 0xd1;
    vpinsrd xmm12,xmm12,DWORD PTR [r10+0x24],0x3; test r11b,0x10; je 0xd1; vpxor ymm3,ymm3,ymm3;
    vpinsrd xmm3,xmm3,DWORD PTR [r10+0x30],0x0; vinsertf128 ymm12,ymm12,xmm3,0x1; test r11b,0x20;
    je 0xd1; vpinsrd xmm3,xmm3,DWORD PTR [r10+0x3c],0x1; vinsertf128 ymm12,ymm12,xmm3,0x1;
    test r11b,0x40; je 0xd1; vpinsrd xmm3,xmm3,DWORD PTR [r10+0x48],0x2;
    vinsertf128 ymm12,ymm12,xmm3,0x1; test r11b,0x80; je 0xd1;
    vpinsrd xmm3,xmm3,DWORD PTR [r10+0x54],0x3; vinsertf128 ymm12,ymm12,xmm3,0x1
store strided of 4 bytes: 4c 69 d0 0c 00 00 00 4d 01 ea c4 43 79 16 a2 00 00 00 00 00 c4 43 79 16 a2 0c 00 00 00 01 c4 43 79 16 a2 18 00 00 00 02 c4 43 79 16 a2 24 00 00 00 03 c4 63 7d 19 e3 01 c4 c3 79 16 9a 30 00 00 00 00 c4 c3 79 16 9a 3c 00 00 00 01 c4 c3 79 16 9a 48 00 00 00 02 c4 c3 79 16 9a 54 00 00 00 03
    imul r10,rax,0xc; add r10,r13; vpextrd DWORD PTR [r10+0x0],xmm12,0x0;
    vpextrd DWORD PTR [r10+0xc],xmm12,0x1; vpextrd DWORD PTR [r10+0x18],xmm12,0x2;
    vpextrd DWORD PTR [r10+0x24],xmm12,0x3; vextractf128 xmm3,ymm12,0x1;
    vpextrd DWORD PTR [r10+0x30],xmm3,0x0; vpextrd DWORD PTR [r10+0x3c],xmm3,0x1;
    vpextrd DWORD PTR [r10+0x48],xmm3,0x2; vpextrd DWORD PTR [r10+0x54],xmm3,0x3
store strided of 4 bytes of lanes: 4c 69 d0 08 00 00 00 49 01 f2 c4 41 7c 50 d9 41 f6 c3 01 0f 84 9c 00 00 00 c4 c3 79 16 9a 00 00 00 00 00 41 f6 c3 02 0f 84 88 00 00 00 c4 c3 79 16 9a 08 00 00 00 01 41 f6 c3 04 0f 84 74 00 00 00 c4 c3 79 16 9a 10 00 00 00 02 41 f6 c3 08 0f 84 60 00 00 00 c4 c3 79 16 9a 18 00 00 00 03 41 f6 c3 10 0f 84 4c 00 00 00 c4 c3 7d 19 dc 01 c4 43 79 16 a2 20 00 00 00 00 41 f6 c3 20 0f 84 32 00 00 00 c4 43 79 16 a2 28 00 00 00 01 41 f6 c3 40 0f 84 1e 00 00 00 c4 43 79 16 a2 30 00 00 00 02 41 f6 c3 80 0f 84 0a 00 00 00 c4 43 79 16 a2 38 00 00 00 03
    imul r10,rax,0x8; add r10,rsi; vmovmskps r11d,ymm9; test r11b,0x1; je 0xb5;
    vpextrd DWORD PTR [r10+0x0],xmm3,0x0; test r11b,0x2; je 0xb5;
    vpextrd DWORD PTR [r10+0x8],xmm3,0x1; test r11b,0x4; je 0xb5;
    vpextrd DWORD PTR [r10+0x10],xmm3,0x2; test r11b,0x8; je 0xb5;
    vpextrd DWORD PTR [r10+0x18],xmm3,0x3; test r11b,0x10; je 0xb5; vextractf128 xmm12,ymm3,0x1;
    vpextrd DWORD PTR [r10+0x20],xmm12,0x0; test r11b,0x20; je 0xb5;
    vpextrd DWORD PTR [r10+0x28],xmm12,0x1; test r11b,0x40; je 0xb5;
    vpextrd DWORD PTR [r10+0x30],xmm12,0x2; test r11b,0x80; je 0xb5;
    vpextrd DWORD PTR [r10+0x38],xmm12,0x3
store strided: 4c 69 d0 10 00 00 00 4d 01 ea c4 41 7b 11 a2 00 00 00 00 c4 41 79 17 a2 10 00 00 00 c4 63 7d 19 e3 01 c4 c1 7b 11 9a 20 00 00 00 c4 c1 79 17 9a 30 00 00 00
    imul r10,rax,0x10; add r10,r13; vmovsd QWORD PTR [r10+0x0],xmm12;
    vmovhpd QWORD PTR [r10+0x10],xmm12; vextractf128 xmm3,ymm12,0x1;
    vmovsd QWORD PTR [r10+0x20],xmm3; vmovhpd QWORD PTR [r10+0x30],xmm3
store strided of lanes: 4c 69 d0 10 00 00 00 49 01 f2 c4 41 7d 50 d9 41 f6 c3 01 0f 84 48 00 00 00 c4 41 7b 11 a2 00 00 00 00 41 f6 c3 02 0f 84 35 00 00 00 c4 41 79 17 a2 10 00 00 00 41 f6 c3 04 0f 84 22 00 00 00 c4 63 7d 19 e3 01 c4 c1 7b 11 9a 20 00 00 00 41 f6 c3 08 0f 84 09 00 00 00 c4 c1 79 17 9a 30 00 00 00
    imul r10,rax,0x10; add r10,rsi; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x61;
    vmovsd QWORD PTR [r10+0x0],xmm12; test r11b,0x2; je 0x61; vmovhpd QWORD PTR [r10+0x10],xmm12;
    test r11b,0x4; je 0x61; vextractf128 xmm3,ymm12,0x1; vmovsd QWORD PTR [r10+0x20],xmm3;
    test r11b,0x8; je 0x61; vmovhpd QWORD PTR [r10+0x30],xmm3
gather: c4 c1 f9 7e da c4 01 7b 10 64 d5 00 c4 c3 f9 16 da 01 c4 01 19 16 64 d5 00 c4 c3 7d 19 d9 01 c4 41 f9 7e ca c4 81 7b 10 54 d5 00 c4 43 f9 16 ca 01 c4 81 69 16 54 d5 00 c4 63 1d 18 e2 01
    vmovq r10,xmm3; vmovsd xmm12,QWORD PTR [r13+r10*8+0x0]; vpextrq r10,xmm3,0x1;
    vmovhpd xmm12,xmm12,QWORD PTR [r13+r10*8+0x0]; vextractf128 xmm9,ymm3,0x1; vmovq r10,xmm9;
    vmovsd xmm2,QWORD PTR [r13+r10*8+0x0]; vpextrq r10,xmm9,0x1;
    vmovhpd xmm2,xmm2,QWORD PTR [r13+r10*8+0x0]; vinsertf128 ymm12,ymm12,xmm2,0x1
gather of lanes: c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 62 00 00 00 c4 c1 f9 7e da c4 21 7b 10 64 d6 00 41 f6 c3 02 0f 84 4c 00 00 00 c4 c3 f9 16 da 01 c4 21 19 16 64 d6 00 41 f6 c3 04 0f 84 35 00 00 00 c4 c3 7d 19 d9 01 c4 41 f9 7e ca c4 a1 7b 10 54 d6 00 c4 63 1d 18 e2 01 41 f6 c3 08 0f 84 13 00 00 00 c4 43 f9 16 ca 01 c4 a1 69 16 54 d6 00 c4 63 1d 18 e2 01
    vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x76; vmovq r10,xmm3;
    vmovsd xmm12,QWORD PTR [rsi+r10*8+0x0]; test r11b,0x2; je 0x76; vpextrq r10,xmm3,0x1;
    vmovhpd xmm12,xmm12,QWORD PTR [rsi+r10*8+0x0]; test r11b,0x4; je 0x76;
    vextractf128 xmm9,ymm3,0x1; vmovq r10,xmm9; vmovsd xmm2,QWORD PTR [rsi+r10*8+0x0];
    vinsertf128 ymm12,ymm12,xmm2,0x1; test r11b,0x8; je 0x76; vpextrq r10,xmm9,0x1;
    vmovhpd xmm2,xmm2,QWORD PTR [rsi+r10*8+0x0]; vinsertf128 ymm12,ymm12,xmm2,0x1
gather of bytes: c4 41 f9 7e e2 47 0f b6 54 15 00 c4 c1 f9 6e da c4 43 f9 16 e2 01 47 0f b6 54 15 00 c4 c3 e1 22 da 01 c4 43 7d 19 e1 01 c4 41 f9 7e ca 47 0f b6 54 15 00 c4 c1 f9 6e d2 c4 43 f9 16 ca 01 47 0f b6 54 15 00 c4 c3 e9 22 d2 01 c4 e3 65 18 da 01
    vmovq r10,xmm12; movzx r10d,BYTE PTR [r13+r10*1+0x0]; vmovq xmm3,r10; vpextrq r10,xmm12,0x1;
    movzx r10d,BYTE PTR [r13+r10*1+0x0]; vpinsrq xmm3,xmm3,r10,0x1; vextractf128 xmm9,ymm12,0x1;
    vmovq r10,xmm9; movzx r10d,BYTE PTR [r13+r10*1+0x0]; vmovq xmm2,r10; vpextrq r10,xmm9,0x1;
    movzx r10d,BYTE PTR [r13+r10*1+0x0]; vpinsrq xmm2,xmm2,r10,0x1; vinsertf128 ymm3,ymm3,xmm2,0x1
gather of 2 bytes: c4 c1 f9 7e da 46 0f b7 54 56 00 c4 41 f9 6e e2 c4 c3 f9 16 da 01 46 0f b7 54 56 00 c4 43 99 22 e2 01 c4 c3 7d 19 d9 01 c4 41 f9 7e ca 46 0f b7 54 56 00 c4 c1 f9 6e d2 c4 43 f9 16 ca 01 46 0f b7 54 56 00 c4 c3 e9 22 d2 01 c4 63 1d 18 e2 01
    vmovq r10,xmm3; movzx r10d,WORD PTR [rsi+r10*2+0x0]; vmovq xmm12,r10; vpextrq r10,xmm3,0x1;
    movzx r10d,WORD PTR [rsi+r10*2+0x0]; vpinsrq xmm12,xmm12,r10,0x1; vextractf128 xmm9,ymm3,0x1;
    vmovq r10,xmm9; movzx r10d,WORD PTR [rsi+r10*2+0x0]; vmovq xmm2,r10; vpextrq r10,xmm9,0x1;
    movzx r10d,WORD PTR [rsi+r10*2+0x0]; vpinsrq xmm2,xmm2,r10,0x1;
    vinsertf128 ymm12,ymm12,xmm2,0x1
gather of 4 bytes of lanes: c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 70 00 00 00 c4 c1 f9 7e da 47 8b 54 95 00 c4 41 f9 6e e2 41 f6 c3 02 0f 84 57 00 00 00 c4 c3 f9 16 da 01 47 8b 54 95 00 c4 43 99 22 e2 01 41 f6 c3 04 0f 84 3c 00 00 00 c4 c3 7d 19 d9 01 c4 41 f9 7e ca 47 8b 54 95 00 c4 c1 f9 6e d2 c4 63 1d 18 e2 01 41 f6 c3 08 0f 84 17 00 00 00 c4 43 f9 16 ca 01 47 8b 54 95 00 c4 c3 e9 22 d2 01 c4 63 1d 18 e2 01
    vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x84; vmovq r10,xmm3;
    mov r10d,DWORD PTR [r13+r10*4+0x0]; vmovq xmm12,r10; test r11b,0x2; je 0x84;
    vpextrq r10,xmm3,0x1; mov r10d,DWORD PTR [r13+r10*4+0x0]; vpinsrq xmm12,xmm12,r10,0x1;
    test r11b,0x4; je 0x84; vextractf128 xmm9,ymm3,0x1; vmovq r10,xmm9;
    mov r10d,DWORD PTR [r13+r10*4+0x0]; vmovq xmm2,r10; vinsertf128 ymm12,ymm12,xmm2,0x1;
    test r11b,0x8; je 0x84; vpextrq r10,xmm9,0x1; mov r10d,DWORD PTR [r13+r10*4+0x0];
    vpinsrq xmm2,xmm2,r10,0x1; vinsertf128 ymm12,ymm12,xmm2,0x1
spill and reload: c4 61 7d 11 a7 c0 ff ff ff c4 e1 7d 10 9f e0 ff ff ff
    vmovupd YMMWORD PTR [rdi-0x40],ymm12; vmovupd ymm3,YMMWORD PTR [rdi-0x20]
broadcast: c4 62 7d 19 a7 18 00 00 00 c4 e2 7d 18 9f 20 00 00 00
    vbroadcastsd ymm12,QWORD PTR [rdi+0x18]; vbroadcastss ymm3,DWORD PTR [rdi+0x20]
ones: c4 c1 9d 73 d1 3f
    vpsrlq ymm12,ymm9,0x3f
ones of 32 bits: c4 c1 9d 72 d1 1f
    vpsrld ymm12,ymm9,0x1f
halves: c4 c3 4d 02 dc 55
    vpblendd ymm3,ymm6,ymm12,0x55
copy: c4 61 7d 28 e3
    vmovapd ymm12,ymm3
arithmetic: c4 61 e5 58 e6 c4 e1 1c 5d de c4 c1 9d fb dc c4 42 65 40 e4 c4 42 65 3f e4 c4 e2 9d 47 de c4 c2 4d 45 dc
    vaddpd ymm12,ymm3,ymm6; vminps ymm3,ymm12,ymm6; vpsubq ymm3,ymm12,ymm12;
    vpmulld ymm12,ymm3,ymm12; vpmaxud ymm12,ymm3,ymm12; vpsllvq ymm3,ymm12,ymm6;
    vpsrlvd ymm3,ymm6,ymm12
long product: c4 61 7d 70 fe b1 c4 42 05 40 fc c4 c1 e5 73 d7 20 c4 61 05 fe fb c4 c1 85 73 f7 20 c4 e1 9d f4 de c4 c1 e5 d4 df
    vpshufd ymm15,ymm6,0xb1; vpmulld ymm15,ymm15,ymm12; vpsrlq ymm3,ymm15,0x20;
    vpaddd ymm15,ymm15,ymm3; vpsllq ymm15,ymm15,0x20; vpmuludq ymm3,ymm12,ymm6;
    vpaddq ymm3,ymm3,ymm15
product of halves: c4 61 e5 f4 e6
    vpmuludq ymm12,ymm3,ymm6
long minimum: c4 e2 1d 37 de c4 e3 1d 4b de 30
    vpcmpgtq ymm3,ymm12,ymm6; vblendvpd ymm3,ymm12,ymm6,ymm3
long maximum: c4 41 05 76 ff c4 c1 05 73 f7 3f c4 c1 9d ef df c4 41 cd ef ff c4 c2 65 37 df c4 c3 4d 4b dc 30
    vpcmpeqd ymm15,ymm15,ymm15; vpsllq ymm15,ymm15,0x3f; vpxor ymm3,ymm12,ymm15;
    vpxor ymm15,ymm6,ymm15; vpcmpgtq ymm3,ymm3,ymm15; vblendvpd ymm3,ymm6,ymm12,ymm3
root and whole: c4 61 fd 51 e3 c4 c3 7d 08 dc 0a
    vsqrtpd ymm12,ymm3; vroundps ymm3,ymm12,0xa
not: c4 41 05 76 ff c4 c1 9d ef df
    vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm3,ymm12,ymm15
fused: c4 62 e5 b8 e6
    vfmadd231pd ymm12,ymm3,ymm6
compare floats: c4 41 e5 c2 cc 11
    vcmplt_oqpd ymm9,ymm3,ymm12
equal: c4 42 65 29 cc
    vpcmpeqq ymm9,ymm3,ymm12
not equal: c4 41 65 76 cc c4 41 05 76 ff c4 41 b5 ef cf
    vpcmpeqd ymm9,ymm3,ymm12; vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm9,ymm9,ymm15
less: c4 62 1d 37 cb
    vpcmpgtq ymm9,ymm12,ymm3
not greater: c4 41 05 76 ff c4 c1 05 72 f7 1f c4 41 65 ef cf c4 41 1d ef ff c4 41 35 66 cf c4 41 05 76 ff c4 41 b5 ef cf
    vpcmpeqd ymm15,ymm15,ymm15; vpslld ymm15,ymm15,0x1f; vpxor ymm9,ymm3,ymm15;
    vpxor ymm15,ymm12,ymm15; vpcmpgtd ymm9,ymm9,ymm15; vpcmpeqd ymm15,ymm15,ymm15;
    vpxor ymm9,ymm9,ymm15
test: c4 41 05 ef ff c4 42 1d 29 cf c4 41 05 76 ff c4 41 b5 ef cf
    vpxor ymm15,ymm15,ymm15; vpcmpeqq ymm9,ymm12,ymm15; vpcmpeqd ymm15,ymm15,ymm15;
    vpxor ymm9,ymm9,ymm15
blend: c4 c3 4d 4b dc 90
    vblendvpd ymm3,ymm6,ymm12,ymm9
masks: c4 41 65 db cc c4 c1 35 eb dc c4 41 05 76 ff c4 c1 b5 ef df
    vpand ymm9,ymm3,ymm12; vpor ymm3,ymm9,ymm12; vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm3,ymm9,ymm15
mask of the rest: 4c 8b 9f 08 00 00 00 c4 41 7d 10 4b 20 c4 42 7d 17 c9 0f 84 01 00 00 00 c3
    mov r11,QWORD PTR [rdi+0x8]; vmovupd ymm9,YMMWORD PTR [r11+0x20]; vptest ymm9,ymm9; je 0x19; ret
masks of constructs: c4 41 65 df cc c4 41 35 76 c9 c4 41 35 ef c9 c4 61 7d 11 8f c0 ff ff ff c4 61 7d 10 8f e0 ff ff ff
    vpandn ymm9,ymm3,ymm12; vpcmpeqd ymm9,ymm9,ymm9; vpxor ymm9,ymm9,ymm9;
    vmovupd YMMWORD PTR [rdi-0x40],ymm9; vmovupd ymm9,YMMWORD PTR [rdi-0x20]
one slot for all lanes: c4 41 f9 7e e2 c4 a2 7d 19 5c d6 00
    vmovq r10,xmm12; vbroadcastsd ymm3,QWORD PTR [rsi+r10*8+0x0]
one slot for all lanes by AVX-512: 62 41 fd 08 7e ea 62 b2 fd 48 19 5c d6 00
    vmovq r10,xmm29; vbroadcastsd zmm3,QWORD PTR [rsi+r10*8+0x0]
store singles by AVX-512: 62 11 fd 48 5a e5 62 51 7c 28 11 64 85 00
    vcvtpd2ps ymm12,zmm29; {evex} vmovups YMMWORD PTR [r13+rax*4+0x0],ymm12
store singles of lanes by AVX-512: 62 61 fd 48 5a eb 62 61 7c 2a 11 6c 86 00
    vcvtpd2ps ymm29,zmm3; vmovups YMMWORD PTR [rsi+rax*4+0x0]{k2},ymm29
round to singles by AVX-512: 62 91 fd 48 5a dd 62 f1 7c 48 5a db
    vcvtpd2ps ymm3,zmm29; vcvtps2pd zmm3,ymm3
load strided by AVX-512: 4c 69 d0 18 00 00 00 4d 01 ea 62 41 ff 08 10 aa 00 00 00 00 62 41 95 00 16 aa 18 00 00 00 62 d1 ff 08 10 9a 30 00 00 00 62 d1 e5 08 16 9a 48 00 00 00 62 63 95 40 18 eb 01 62 d1 ff 08 10 9a 60 00 00 00 62 d1 e5 08 16 9a 78 00 00 00 62 63 95 40 18 eb 02 62 d1 ff 08 10 9a 90 00 00 00 62 d1 e5 08 16 9a a8 00 00 00 62 63 95 40 18 eb 03
    imul r10,rax,0x18; add r10,r13; vmovsd xmm29,QWORD PTR [r10+0x0];
    vmovhpd xmm29,xmm29,QWORD PTR [r10+0x18]; {evex} vmovsd xmm3,QWORD PTR [r10+0x30];
    {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0x48]; vinsertf64x2 zmm29,zmm29,xmm3,0x1;
    {evex} vmovsd xmm3,QWORD PTR [r10+0x60]; {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0x78];
    vinsertf64x2 zmm29,zmm29,xmm3,0x2; {evex} vmovsd xmm3,QWORD PTR [r10+0x90];
    {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0xa8]; vinsertf64x2 zmm29,zmm29,xmm3,0x3
load strided of lanes by AVX-512: 4c 69 d0 f8 ff ff ff 49 01 f2 62 51 9d 48 ef e4 c5 78 93 da 41 f6 c3 01 0f 84 c0 00 00 00 62 51 ff 08 10 a2 00 00 00 00 41 f6 c3 02 0f 84 ac 00 00 00 62 51 9d 08 16 a2 f8 ff ff ff 41 f6 c3 04 0f 84 98 00 00 00 62 41 ff 08 10 aa f0 ff ff ff 62 13 9d 48 18 e5 01 41 f6 c3 08 0f 84 7d 00 00 00 62 41 95 00 16 aa e8 ff ff ff 62 13 9d 48 18 e5 01 41 f6 c3 10 0f 84 62 00 00 00 62 41 ff 08 10 aa e0 ff ff ff 62 13 9d 48 18 e5 02 41 f6 c3 20 0f 84 47 00 00 00 62 41 95 00 16 aa d8 ff ff ff 62 13 9d 48 18 e5 02 41 f6 c3 40 0f 84 2c 00 00 00 62 41 ff 08 10 aa d0 ff ff ff 62 13 9d 48 18 e5 03 41 f6 c3 80 0f 84 11 00 00 00 62 41 95 00 16 aa c8 ff ff ff 62 13 9d 48 18 e5 03
    imul r10,rax,0xfffffffffffffff8; add r10,rsi; vpxorq zmm12,zmm12,zmm12; kmovw r11d,k2;
    test r11b,0x1; je 0xde; {evex} vmovsd xmm12,QWORD PTR [r10+0x0]; test r11b,0x2; je 0xde;
    {evex} vmovhpd xmm12,xmm12,QWORD PTR [r10-0x8]; test r11b,0x4; je 0xde;
    vmovsd xmm29,QWORD PTR [r10-0x10]; vinsertf64x2 zmm12,zmm12,xmm29,0x1; test r11b,0x8; je 0xde;
    vmovhpd xmm29,xmm29,QWORD PTR [r10-0x18]; vinsertf64x2 zmm12,zmm12,xmm29,0x1; test r11b,0x10;
    je 0xde; vmovsd xmm29,QWORD PTR [r10-0x20]; vinsertf64x2 zmm12,zmm12,xmm29,0x2; test r11b,0x20;
    je 0xde; vmovhpd xmm29,xmm29,QWORD PTR [r10-0x28]; vinsertf64x2 zmm12,zmm12,xmm29,0x2;
    test r11b,0x40; je 0xde; vmovsd xmm29,QWORD PTR [r10-0x30]; vinsertf64x2 zmm12,zmm12,xmm29,0x3;
    test r11b,0x80; je 0xde; vmovhpd xmm29,xmm29,QWORD PTR [r10-0x38];
    vinsertf64x2 zmm12,zmm12,xmm29,0x3
gather by AVX-512: 62 51 fd 08 7e e2 62 01 ff 08 10 6c d5 00 62 53 fd 08 16 e2 01 62 01 95 00 16 6c d5 00 62 33 fd 48 19 e1 01 62 c1 fd 08 7e ca 62 91 ff 08 10 54 d5 00 62 c3 fd 08 16 ca 01 62 91 ed 08 16 54 d5 00 62 63 95 40 18 ea 01 62 33 fd 48 19 e1 02 62 c1 fd 08 7e ca 62 91 ff 08 10 54 d5 00 62 c3 fd 08 16 ca 01 62 91 ed 08 16 54 d5 00 62 63 95 40 18 ea 02 62 33 fd 48 19 e1 03 62 c1 fd 08 7e ca 62 91 ff 08 10 54 d5 00 62 c3 fd 08 16 ca 01 62 91 ed 08 16 54 d5 00 62 63 95 40 18 ea 03
    {evex} vmovq r10,xmm12; vmovsd xmm29,QWORD PTR [r13+r10*8+0x0]; {evex} vpextrq r10,xmm12,0x1;
    vmovhpd xmm29,xmm29,QWORD PTR [r13+r10*8+0x0]; vextractf64x2 xmm17,zmm12,0x1; vmovq r10,xmm17;
    {evex} vmovsd xmm2,QWORD PTR [r13+r10*8+0x0]; vpextrq r10,xmm17,0x1;
    {evex} vmovhpd xmm2,xmm2,QWORD PTR [r13+r10*8+0x0]; vinsertf64x2 zmm29,zmm29,xmm2,0x1;
    vextractf64x2 xmm17,zmm12,0x2; vmovq r10,xmm17; {evex} vmovsd xmm2,QWORD PTR [r13+r10*8+0x0];
    vpextrq r10,xmm17,0x1; {evex} vmovhpd xmm2,xmm2,QWORD PTR [r13+r10*8+0x0];
    vinsertf64x2 zmm29,zmm29,xmm2,0x2; vextractf64x2 xmm17,zmm12,0x3; vmovq r10,xmm17;
    {evex} vmovsd xmm2,QWORD PTR [r13+r10*8+0x0]; vpextrq r10,xmm17,0x1;
    {evex} vmovhpd xmm2,xmm2,QWORD PTR [r13+r10*8+0x0]; vinsertf64x2 zmm29,zmm29,xmm2,0x3
gather of bytes of lanes by AVX-512: 62 51 9d 48 ef e4 c5 78 93 da 41 f6 c3 01 0f 84 1d 01 00 00 62 41 fd 08 7e ea 46 0f b6 54 16 00 62 51 fd 08 6e e2 41 f6 c3 02 0f 84 01 01 00 00 62 43 fd 08 16 ea 01 46 0f b6 54 16 00 62 53 9d 08 22 e2 01 41 f6 c3 04 0f 84 e3 00 00 00 62 43 fd 48 19 e9 01 62 51 fd 08 7e ca 46 0f b6 54 16 00 62 c1 fd 08 6e d2 62 33 9d 48 18 e2 01 41 f6 c3 08 0f 84 b9 00 00 00 62 53 fd 08 16 ca 01 46 0f b6 54 16 00 62 c3 ed 00 22 d2 01 62 33 9d 48 18 e2 01 41 f6 c3 10 0f 84 94 00 00 00 62 43 fd 48 19 e9 02 62 51 fd 08 7e ca 46 0f b6 54 16 00 62 c1 fd 08 6e d2 62 33 9d 48 18 e2 02 41 f6 c3 20 0f 84 6a 00 00 00 62 53 fd 08 16 ca 01 46 0f b6 54 16 00 62 c3 ed 00 22 d2 01 62 33 9d 48 18 e2 02 41 f6 c3 40 0f 84 45 00 00 00 62 43 fd 48 19 e9 03 62 51 fd 08 7e ca 46 0f b6 54 16 00 62 c1 fd 08 6e d2 62 33 9d 48 18 e2 03 41 f6 c3 80 0f 84 1b 00 00 00 62 53 fd 08 16 ca 01 46 0f b6 54 16 00 62 c3 ed 00 22 d2 01 62 33 9d 48 18 e2 03
    vpxorq zmm12,zmm12,zmm12; kmovw r11d,k2; test r11b,0x1; je 0x131; vmovq r10,xmm29;
    movzx r10d,BYTE PTR [rsi+r10*1+0x0]; {evex} vmovq xmm12,r10; test r11b,0x2; je 0x131;
    vpextrq r10,xmm29,0x1; movzx r10d,BYTE PTR [rsi+r10*1+0x0];
    {evex} vpinsrq xmm12,xmm12,r10,0x1; test r11b,0x4; je 0x131; vextractf64x2 xmm9,zmm29,0x1;
    {evex} vmovq r10,xmm9; movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vmovq xmm18,r10;
    vinsertf64x2 zmm12,zmm12,xmm18,0x1; test r11b,0x8; je 0x131; {evex} vpextrq r10,xmm9,0x1;
    movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vpinsrq xmm18,xmm18,r10,0x1;
    vinsertf64x2 zmm12,zmm12,xmm18,0x1; test r11b,0x10; je 0x131; vextractf64x2 xmm9,zmm29,0x2;
    {evex} vmovq r10,xmm9; movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vmovq xmm18,r10;
    vinsertf64x2 zmm12,zmm12,xmm18,0x2; test r11b,0x20; je 0x131; {evex} vpextrq r10,xmm9,0x1;
    movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vpinsrq xmm18,xmm18,r10,0x1;
    vinsertf64x2 zmm12,zmm12,xmm18,0x2; test r11b,0x40; je 0x131; vextractf64x2 xmm9,zmm29,0x3;
    {evex} vmovq r10,xmm9; movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vmovq xmm18,r10;
    vinsertf64x2 zmm12,zmm12,xmm18,0x3; test r11b,0x80; je 0x131; {evex} vpextrq r10,xmm9,0x1;
    movzx r10d,BYTE PTR [rsi+r10*1+0x0]; vpinsrq xmm18,xmm18,r10,0x1;
    vinsertf64x2 zmm12,zmm12,xmm18,0x3
store strided by AVX-512: 4c 69 d0 10 00 00 00 4d 01 ea 62 41 ff 08 11 aa 00 00 00 00 62 41 fd 08 17 aa 10 00 00 00 62 63 fd 48 19 eb 01 62 d1 ff 08 11 9a 20 00 00 00 62 d1 fd 08 17 9a 30 00 00 00 62 63 fd 48 19 eb 02 62 d1 ff 08 11 9a 40 00 00 00 62 d1 fd 08 17 9a 50 00 00 00 62 63 fd 48 19 eb 03 62 d1 ff 08 11 9a 60 00 00 00 62 d1 fd 08 17 9a 70 00 00 00
    imul r10,rax,0x10; add r10,r13; vmovsd QWORD PTR [r10+0x0],xmm29;
    vmovhpd QWORD PTR [r10+0x10],xmm29; vextractf64x2 xmm3,zmm29,0x1;
    {evex} vmovsd QWORD PTR [r10+0x20],xmm3; {evex} vmovhpd QWORD PTR [r10+0x30],xmm3;
    vextractf64x2 xmm3,zmm29,0x2; {evex} vmovsd QWORD PTR [r10+0x40],xmm3;
    {evex} vmovhpd QWORD PTR [r10+0x50],xmm3; vextractf64x2 xmm3,zmm29,0x3;
    {evex} vmovsd QWORD PTR [r10+0x60],xmm3; {evex} vmovhpd QWORD PTR [r10+0x70],xmm3
store strided of lanes by AVX-512: 4c 69 d0 10 00 00 00 49 01 f2 c5 78 93 da 41 f6 c3 01 0f 84 ab 00 00 00 62 51 ff 08 11 a2 00 00 00 00 41 f6 c3 02 0f 84 97 00 00 00 62 51 fd 08 17 a2 10 00 00 00 41 f6 c3 04 0f 84 83 00 00 00 62 13 fd 48 19 e5 01 62 41 ff 08 11 aa 20 00 00 00 41 f6 c3 08 0f 84 68 00 00 00 62 41 fd 08 17 aa 30 00 00 00 41 f6 c3 10 0f 84 54 00 00 00 62 13 fd 48 19 e5 02 62 41 ff 08 11 aa 40 00 00 00 41 f6 c3 20 0f 84 39 00 00 00 62 41 fd 08 17 aa 50 00 00 00 41 f6 c3 40 0f 84 25 00 00 00 62 13 fd 48 19 e5 03 62 41 ff 08 11 aa 60 00 00 00 41 f6 c3 80 0f 84 0a 00 00 00 62 41 fd 08 17 aa 70 00 00 00
    imul r10,rax,0x10; add r10,rsi; kmovw r11d,k2; test r11b,0x1; je 0xc3;
    {evex} vmovsd QWORD PTR [r10+0x0],xmm12; test r11b,0x2; je 0xc3;
    {evex} vmovhpd QWORD PTR [r10+0x10],xmm12; test r11b,0x4; je 0xc3;
    vextractf64x2 xmm29,zmm12,0x1; vmovsd QWORD PTR [r10+0x20],xmm29; test r11b,0x8; je 0xc3;
    vmovhpd QWORD PTR [r10+0x30],xmm29; test r11b,0x10; je 0xc3; vextractf64x2 xmm29,zmm12,0x2;
    vmovsd QWORD PTR [r10+0x40],xmm29; test r11b,0x20; je 0xc3; vmovhpd QWORD PTR [r10+0x50],xmm29;
    test r11b,0x40; je 0xc3; vextractf64x2 xmm29,zmm12,0x3; vmovsd QWORD PTR [r10+0x60],xmm29;
    test r11b,0x80; je 0xc3; vmovhpd QWORD PTR [r10+0x70],xmm29";

fn cases() -> Vec<(&'static str, Assembler)> {
    let mut cases = Vec::new();
    let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
        let mut asm = Assembler::new(Isa::Avx512);
        write(&mut asm);
        cases.push((text, asm));
    };
    let (a, b, c) = (Vector(3), Vector(12), Vector(29));
    let [rsi, .., r13, r14, _] = POINTERS;
    let (none, last) = (None, Some(Mask(1)));
    case("vmovupd zmm3, [rsi + 8*rax]", &|asm| asm.load(Lane::F64, a, rsi, none));
    case("vmovups zmm29 {k1} {z}, [r13 + 4*rax]", &|asm| asm.load(Lane::F32, c, r13, last));
    case("vmovupd [r14 + 8*rax] {k1}, zmm12", &|asm| asm.store(Lane::I64, r14, b, last));
    case("vmovups [rsi + 4*rax], zmm29", &|asm| asm.store(Lane::I32, rsi, c, none));
    case("vpmovzxbq zmm29 {k1} {z}, [r13 + rax]", &|asm| {
        asm.load_narrow(Lane::I64, (Extension::Zero, 1), c, r13, last)
    });
    case("vpmovzxdq zmm3, [rsi + 4*rax]", &|asm| {
        asm.load_narrow(Lane::I64, (Extension::Zero, 4), a, rsi, none)
    });
    case("vpmovsxwq zmm29 {k1} {z}, [r13 + 2*rax]", &|asm| {
        asm.load_narrow(Lane::I64, (Extension::Sign, 2), c, r13, last)
    });
    case("vcvtps2pd zmm3, [rsi + 4*rax]", &|asm| {
        asm.load_narrow(Lane::I64, (Extension::Float, 4), a, rsi, none)
    });
    case("vpmovqw [rsi + 2*rax], zmm29", &|asm| asm.store_narrow(Lane::I64, 2, rsi, c, none));
    case("vpmovqd [r14 + 4*rax] {k1}, zmm12", &|asm| asm.store_narrow(Lane::I64, 4, r14, b, last));
    case("vbroadcastsd zmm29, qword ptr [rdi + 24]", &|asm| asm.broadcast(Lane::F64, c, 3));
    case("vbroadcastss zmm3, dword ptr [rdi + 800]", &|asm| asm.broadcast(Lane::I32, a, 100));
    case("vmovupd [rdi - 128], zmm29", &|asm| asm.spill(1, c));
    case("vmovupd zmm12, [rdi - 64]", &|asm| asm.reload(b, 0));
    case("vmovapd zmm12, zmm29", &|asm| asm.copy(b, c));
    case("vaddpd zmm29, zmm12, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::F64, c, (b, a), none));
    case("vsubps zmm3, zmm29, zmm12", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::F32, a, (c, b), none));
    case("vmulpd zmm3 {k1}, zmm3, zmm29", &|asm| asm.arithmetic(Arithmetic::Mul, Lane::F64, a, (a, c), last));
    case("vdivps zmm3, zmm12, zmm12", &|asm| asm.arithmetic(Arithmetic::Div, Lane::F32, a, (b, b), none));
    case("vminpd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Min, Lane::F64, a, (b, c), none));
    case("vmaxps zmm29, zmm3, zmm12", &|asm| asm.arithmetic(Arithmetic::Max, Lane::F32, c, (a, b), none));
    case("vpaddq zmm29, zmm29, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::I64, c, (c, a), none));
    case("vpaddd zmm29, zmm29, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::I32, c, (c, a), none));
    case("vpsubq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::I64, a, (b, c), none));
    case("vpsubd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::I32, a, (b, c), none));
    case("vpandq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::And, Lane::I64, a, (b, c), none));
    case("vpord zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Or, Lane::I32, a, (b, c), none));
    case("vpxorq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Xor, Lane::I64, a, (b, c), none));
    case("vsqrtpd zmm3, zmm29", &|asm| asm.sqrt(Lane::F64, a, c));
    case("vsqrtps zmm29, zmm12", &|asm| asm.sqrt(Lane::F32, c, b));
    case("vrndscalepd zmm3, zmm29, 9", &|asm| asm.round(Lane::F64, a, c, 1));
    case("vrndscaleps zmm12, zmm3, 11", &|asm| asm.round(Lane::F32, b, a, 3));
    case("vpternlogq zmm3, zmm29, zmm29, 85", &|asm| asm.not(a, c));
    case("vfmadd231pd zmm29 {k1}, zmm12, zmm3", &|asm| asm.fused_multiply_add(Lane::F64, c, (b, a), last));
    case("vcmppd k3, zmm12, zmm29, 17", &|asm| asm.compare((Lane::F64, false), Mask(3), (b, c), 0x11));
    case("vcmpps k7, zmm29, zmm3, 4", &|asm| asm.compare((Lane::F32, false), Mask(7), (c, a), 0x04));
    case("vblendmpd zmm3 {k2}, zmm29, zmm12", &|asm| asm.blend(Lane::F64, a, Mask(2), (b, c)));
    case("vblendmps zmm3 {k7}, zmm29, zmm12", &|asm| asm.blend(Lane::I32, a, Mask(7), (b, c)));
    case("vpmullq zmm29, zmm12, zmm3", &|asm| asm.arithmetic(Arithmetic::Mul, Lane::I64, c, (b, a), none));
    case("vpmulld zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Mul, Lane::I32, a, (b, c), none));
    case("vpmuludq zmm3, zmm12, zmm29", &|asm| asm.half_product(a, (b, c)));
    case("vpmuldq zmm29, zmm12, zmm3", &|asm| asm.signed_half_product(c, (b, a)));
    case("vpsrlq zmm3, zmm29, 32", &|asm| asm.shift(false, a, c, 32));
    case("vpsllq zmm29, zmm12, 7", &|asm| asm.shift(true, c, b, 7));
    case("vpminsq zmm3 {k1}, zmm3, zmm29", &|asm| {
        asm.arithmetic(Arithmetic::Min, Lane::I64, a, (a, c), last)
    });
    case("vpmaxsd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Max, Lane::I32, a, (b, c), none));
    case("vpminuq zmm3, zmm12, zmm29", &|asm| {
        asm.arithmetic(Arithmetic::MinUnsigned, Lane::I64, a, (b, c), none)
    });
    case("vpmaxuq zmm3, zmm12, zmm29", &|asm| {
        asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I64, a, (b, c), none)
    });
    case("vpsllvq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Shl, Lane::I64, a, (b, c), none));
    case("vpsrlvd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Shr, Lane::I32, a, (b, c), none));
    case("vbroadcastsd zmm29 {k3} {z}, [rdi + 24]", &|asm| asm.ones(Lane::I64, c, Mask(3), 3));
    case("vbroadcastss zmm29 {k3} {z}, [rdi + 24]", &|asm| asm.ones(Lane::I32, c, Mask(3), 3));
    case("vcvtqq2pd zmm29, zmm3", &|asm| asm.convert(Conversion::SignedToFloat, c, a));
    case("vcvtuqq2pd zmm3, zmm12", &|asm| asm.convert(Conversion::UnsignedToFloat, a, b));
    case("vcvttpd2qq zmm3, zmm29", &|asm| asm.convert(Conversion::FloatToSigned, a, c));
    case("vcvtdq2ps zmm29, zmm3", &|asm| asm.convert_short(c, a));
    case("vcvtudq2ps zmm29, zmm3", &|asm| asm.convert_short_unsigned(c, a));
    case("vpmovsxbd zmm29 {k1} {z}, [r13 + rax]", &|asm| {
        asm.load_narrow(Lane::I32, (Extension::Sign, 1), c, r13, last)
    });
    case("vpmovzxwd zmm3, [rsi + 2*rax]", &|asm| {
        asm.load_narrow(Lane::I32, (Extension::Zero, 2), a, rsi, none)
    });
    case("vpmovdb [r13 + rax] {k1}, zmm29", &|asm| asm.store_narrow(Lane::I32, 1, r13, c, last));
    case("vpmovdw [rsi + 2*rax], zmm3", &|asm| asm.store_narrow(Lane::I32, 2, rsi, a, none));
    case("vcvttps2dq zmm29, zmm3", &|asm| asm.truncate_single(c, a));
    case("vpopcntq zmm3, zmm29", &|asm| asm.population_count(a, c));
    case("vpcmpq k3, zmm12, zmm29, 1", &|asm| asm.compare((Lane::I64, false), Mask(3), (b, c), 1));
    case("vpcmpud k7, zmm29, zmm3, 2", &|asm| asm.compare((Lane::I32, true), Mask(7), (c, a), 2));
    case("vptestmq k3, zmm29, zmm29", &|asm| asm.test(Lane::I64, Mask(3), c));
    case("kandw k2, k3, k4", &|asm| asm.mask_and(Mask(2), Mask(3), Mask(4)));
    case("korw k7, k2, k6", &|asm| asm.mask_or(Mask(7), Mask(2), Mask(6)));
    case("knotw k5, k2", &|asm| asm.mask_not(Mask(5), Mask(2)));
    case("kandnw k2, k3, k4", &|asm| asm.mask_and_not(Mask(2), Mask(3), Mask(4)));
    case("kxnorw k5, k5, k5", &|asm| asm.mask_all(Mask(5)));
    case("kxorw k2, k2, k2", &|asm| asm.mask_none(Mask(2)));
    case("kmovw word ptr [rdi - 128], k3", &|asm| asm.spill_mask(1, Mask(3)));
    case("kmovw k5, word ptr [rdi - 64]", &|asm| asm.reload_mask(Mask(5), 0));
    case("vpsraq zmm29, zmm3, 7", &|asm| asm.shift_signed(c, a, 7));
    case("mov qword ptr [rdi + 16], 1", &|asm| asm.set_word(2));
    case("kortestb k3, k3; jne -10", &|asm| asm.jump_back_if_any(Mask(3), 8, 0));
    case("jmp -5", &|asm| asm.jump_back(0));
    case("kmovw k1, word ptr [rdi + 8]", &|asm| asm.mask(Mask(1), 1));
    case("mov r13, [rdi + 40]", &|asm| asm.pointer(r13, 5));
    case("push r14", &|asm| asm.push(r14));
    case("pop r14", &|asm| asm.pop(r14));
    case("xor eax, eax", &|asm| asm.zero_counter());
    case("add rax, 16", &|asm| asm.advance_counter(16));
    case("cmp rax, [rdi]; jb -13", &|asm| asm.jump_back_if_below(0, 0));
    case("cmp rax, [rdi + 8]; jae 1; ret", &|asm| {
        let over = asm.jump_unless_below(1);
        asm.ret();
        asm.patch_jump(over);
    });
    case("kortestw k3, k3; je 1; ret", &|asm| {
        let over = asm.jump_if_none(Mask(3), 16);
        asm.ret();
        asm.patch_jump(over);
    });
    case("kortestb k3, k3; jne 1; ret", &|asm| {
        let over = asm.jump_if_any(Mask(3), 8);
        asm.ret();
        asm.patch_jump(over);
    });
    case("jmp 1; ret", &|asm| {
        let over = asm.jump();
        asm.ret();
        asm.patch_jump(over);
    });
    case("mov r11, [rdi + 16]; cmp byte ptr [r11], 0; jne 1; ret", &|asm| {
        let over = asm.jump_if_set(2);
        asm.ret();
        asm.patch_jump(over);
    });
    case("cmp qword ptr [rdi + 8], 0; je 3; vzeroupper", &|asm| {
        let over = asm.jump_if_zero(1);
        asm.vzeroupper();
        asm.patch_jump(over);
    });
    cases
}

fn sequences() -> Vec<(&'static str, Assembler)> {
    let mut cases = Vec::new();
    let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
        let mut asm = Assembler::new(Isa::Avx2);
        write(&mut asm);
        cases.push((text, asm));
    };
    let (a, b, c) = (Vector(3), Vector(12), Vector(6));
    let [rsi, .., r13, _, _] = POINTERS;
    let (mask, rest) = (Mask(9), Some(Mask(9)));
    case("load", &|asm| asm.load(Lane::F64, b, r13, None));
    case("load of lanes", &|asm| asm.load(Lane::F32, b, rsi, rest));
    case("store", &|asm| asm.store(Lane::I32, rsi, a, None));
    case("store of lanes", &|asm| asm.store(Lane::I64, r13, b, rest));
    case("load narrow", &|asm| asm.load_narrow(Lane::I64, (Extension::Zero, 2), b, r13, None));
    case("load narrow of lanes", &|asm| asm.load_narrow(Lane::I64, (Extension::Zero, 1), b, r13, rest));
    case("load 2 narrow of lanes", &|asm| asm.load_narrow(Lane::I64, (Extension::Zero, 2), a, rsi, rest));
    case("load 4 narrow of lanes", &|asm| asm.load_narrow(Lane::I64, (Extension::Zero, 4), a, rsi, rest));
    case("load narrow with sign", &|asm| asm.load_narrow(Lane::I64, (Extension::Sign, 4), b, r13, None));
    case("load narrow with sign of lanes", &|asm| {
        asm.load_narrow(Lane::I64, (Extension::Sign, 2), a, rsi, rest)
    });
    case("load singles", &|asm| asm.load_narrow(Lane::I64, (Extension::Float, 4), b, r13, None));
    case("load singles of lanes", &|asm| asm.load_narrow(Lane::I64, (Extension::Float, 4), a, rsi, rest));
    case("store singles", &|asm| asm.store_singles(r13, b, a, None));
    case("store singles of lanes", &|asm| asm.store_singles(rsi, a, b, rest));
    case("round to singles", &|asm| asm.round_to_single(a, b));
    case("signed product of halves", &|asm| asm.signed_half_product(b, (a, c)));
    case("convert short", &|asm| asm.convert_short(a, b));
    case("truncate single", &|asm| asm.truncate_single(b, a));
    case("load 1 short", &|asm| asm.load_narrow(Lane::I32, (Extension::Zero, 1), a, rsi, None));
    case("load 1 short of lanes", &|asm| asm.load_narrow(Lane::I32, (Extension::Sign, 1), b, r13, rest));
    case("load 2 short of lanes", &|asm| asm.load_narrow(Lane::I32, (Extension::Sign, 2), a, rsi, rest));
    case("store 1 short", &|asm| asm.store_narrow(Lane::I32, 1, r13, b, None));
    case("store 2 short", &|asm| asm.store_narrow(Lane::I32, 2, rsi, a, None));
    case("store 1 short of lanes", &|asm| asm.store_narrow(Lane::I32, 1, rsi, b, rest));
    case("store 2 short of lanes", &|asm| asm.store_narrow(Lane::I32, 2, r13, a, rest));
    case("store 4", &|asm| asm.store_narrow(Lane::I64, 4, r13, b, None));
    case("store 2", &|asm| asm.store_narrow(Lane::I64, 2, rsi, a, None));
    case("store 1", &|asm| asm.store_narrow(Lane::I64, 1, r13, b, None));
    case("store 4 of lanes", &|asm| asm.store_narrow(Lane::I64, 4, r13, b, rest));
    case("store 1 of lanes", &|asm| asm.store_narrow(Lane::I64, 1, rsi, b, rest));
    case("load strided", &|asm| asm.load_strided(b, (r13, 24), a, None));
    case("load strided of lanes", &|asm| asm.load_strided(b, (rsi, -8), a, rest));
    case("load strided of 4 bytes of lanes", &|asm| asm.load_strided_short(b, (rsi, 12), a, Mask(9)));
    case("store strided of 4 bytes", &|asm| asm.store_strided_short((r13, 12), b, a, None));
    case("store strided of 4 bytes of lanes", &|asm| asm.store_strided_short((rsi, 8), a, b, rest));
    case("store strided", &|asm| asm.store_strided((r13, 16), b, a, None));
    case("store strided of lanes", &|asm| asm.store_strided((rsi, 16), b, a, rest));
    case("gather", &|asm| asm.gather(8, b, (r13, a), [Vector(9), Vector(2)], None));
    case("gather of lanes", &|asm| asm.gather(8, b, (rsi, a), [Vector(9), Vector(2)], rest));
    case("gather of bytes", &|asm| asm.gather(1, a, (r13, b), [Vector(9), Vector(2)], None));
    case("gather of 2 bytes", &|asm| asm.gather(2, b, (rsi, a), [Vector(9), Vector(2)], None));
    case("gather of 4 bytes of lanes", &|asm| asm.gather(4, b, (r13, a), [Vector(9), Vector(2)], rest));
    case("spill and reload", &|asm| {
        asm.spill(1, b);
        asm.reload(a, 0);
    });
    case("broadcast", &|asm| {
        asm.broadcast(Lane::I64, b, 3);
        asm.broadcast(Lane::F32, a, 4);
    });
    case("ones", &|asm| asm.ones(Lane::I64, b, mask, 3));
    case("ones of 32 bits", &|asm| asm.ones(Lane::I32, b, mask, 3));
    case("halves", &|asm| asm.join_halves(a, b, c));
    case("copy", &|asm| asm.copy(b, a));
    case("arithmetic", &|asm| {
        asm.arithmetic(Arithmetic::Add, Lane::F64, b, (a, c), None);
        asm.arithmetic(Arithmetic::Min, Lane::F32, a, (b, c), None);
        asm.arithmetic(Arithmetic::Sub, Lane::I64, a, (b, b), None);
        asm.arithmetic(Arithmetic::Mul, Lane::I32, b, (a, b), None);
        asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I32, b, (a, b), None);
        asm.arithmetic(Arithmetic::Shl, Lane::I64, a, (b, c), None);
        asm.arithmetic(Arithmetic::Shr, Lane::I32, a, (c, b), None);
    });
    case("long product", &|asm| asm.arithmetic(Arithmetic::Mul, Lane::I64, a, (b, c), None));
    case("product of halves", &|asm| asm.half_product(b, (a, c)));
    case("long minimum", &|asm| asm.arithmetic(Arithmetic::Min, Lane::I64, a, (b, c), None));
    case("long maximum", &|asm| asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I64, a, (b, c), None));
    case("root and whole", &|asm| {
        asm.sqrt(Lane::F64, b, a);
        asm.round(Lane::F32, a, b, 2);
    });
    case("not", &|asm| asm.not(a, b));
    case("fused", &|asm| asm.fused_multiply_add(Lane::F64, b, (a, c), None));
    case("compare floats", &|asm| asm.compare((Lane::F64, false), mask, (a, b), 0x11));
    case("equal", &|asm| asm.compare((Lane::I64, false), mask, (a, b), 0));
    case("not equal", &|asm| asm.compare((Lane::I32, false), mask, (a, b), 4));
    case("less", &|asm| asm.compare((Lane::I64, false), mask, (a, b), 1));
    case("not greater", &|asm| asm.compare((Lane::I32, true), mask, (a, b), 2));
    case("test", &|asm| asm.test(Lane::I64, mask, b));
    case("blend", &|asm| asm.blend(Lane::F64, a, mask, (b, c)));
    case("masks", &|asm| {
        asm.mask_and(mask, Mask(3), Mask(12));
        asm.mask_or(Mask(3), mask, Mask(12));
        asm.mask_not(Mask(3), mask);
    });
    case("mask of the rest", &|asm| {
        asm.mask_at(mask, 1, 1);
        let over = asm.jump_if_none(mask, 4);
        asm.ret();
        asm.patch_jump(over);
    });
    case("masks of constructs", &|asm| {
        asm.mask_and_not(mask, Mask(3), Mask(12));
        asm.mask_all(mask);
        asm.mask_none(mask);
        asm.spill_mask(1, mask);
        asm.reload_mask(mask, 0);
    });
    case("one slot for all lanes", &|asm| asm.broadcast_slot(Lane::F64, a, (rsi, b)));
    let (last, high) = (Some(Mask(2)), Vector(29));
    let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
        let mut asm = Assembler::new(Isa::Avx512);
        write(&mut asm);
        cases.push((text, asm));
    };
    case("one slot for all lanes by AVX-512", &|asm| asm.broadcast_slot(Lane::I64, a, (rsi, high)));
    case("store singles by AVX-512", &|asm| asm.store_singles(r13, high, b, None));
    case("store singles of lanes by AVX-512", &|asm| asm.store_singles(rsi, a, high, last));
    case("round to singles by AVX-512", &|asm| asm.round_to_single(a, high));
    case("load strided by AVX-512", &|asm| asm.load_strided(high, (r13, 24), a, None));
    case("load strided of lanes by AVX-512", &|asm| asm.load_strided(b, (rsi, -8), high, last));
    case("gather by AVX-512", &|asm| asm.gather(8, high, (r13, b), [Vector(17), Vector(2)], None));
    case("gather of bytes of lanes by AVX-512", &|asm| {
        asm.gather(1, b, (rsi, high), [Vector(9), Vector(18)], last)
    });
    case("store strided by AVX-512", &|asm| asm.store_strided((r13, 16), high, a, None));
    case("store strided of lanes by AVX-512", &|asm| asm.store_strided((rsi, 16), b, high, last));
    cases
}
