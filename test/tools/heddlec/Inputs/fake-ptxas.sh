# Read by scripts that stand for ptxas: tells a release, and writes the header of a cubin without
# sections (64-bit ELF, machine 190) to the last argument.
[ "$1" = --version ] && echo "release 13.0, V13.0.1" && exit
for out; do :; done
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\276\000\001\000\000\000' >"$out"
printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >>"$out"
printf '\000\000\000\000\000\000\000\000\100\000\000\000\000\000\000\000\000\000\000\000' >>"$out"
