#include <stdlib.h>
#include <string.h>

static const unsigned char packed_tables[] = PACKED_BYTES;

// LZ4, one block: literals and copies of what was written before, in turns. What is read was packed and
// unpacked again when this file was made, so nothing is checked.
static size_t length_of(size_t length, const unsigned char **in) {
  if (length == 15) {
    unsigned char more;
    do {
      more = *(*in)++;
      length += more;
    } while (more == 255);
  }
  return length;
}

static void unpack_tables(unsigned char *out) {
  const unsigned char *in = packed_tables, *end = packed_tables + PACKED_SIZE;
  while (in < end) {
    unsigned token = *in++;
    size_t length = length_of(token >> 4, &in);
    memcpy(out, in, length);
    out += length;
    in += length;
    if (in >= end) return;
    size_t distance = in[0] | (size_t)in[1] << 8;
    in += 2;
    length = length_of(token & 15, &in) + 4;
    const unsigned char *from = out - distance;
    if (distance >= length) {
      memcpy(out, from, length);
      out += length;
    } else {
      while (length--) *out++ = *from++;
    }
  }
}

// The first thread unpacks; one that comes meanwhile waits for the milliseconds that it takes.
static void unpack_tables_once(TSLanguage *language) {
  enum { PACKED, UNPACKING, READY };
  static int state = PACKED;
  int expected = PACKED;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == READY) return;
  if (!__atomic_compare_exchange_n(&state, &expected, UNPACKING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != READY) {}
    return;
  }
  unsigned char *tables = malloc(TABLES_SIZE);
  if (!tables) abort();
  unpack_tables(tables);
  PLACES;
  __atomic_store_n(&state, READY, __ATOMIC_RELEASE);
}

