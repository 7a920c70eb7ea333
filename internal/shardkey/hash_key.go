package shardkey

import "math"

// HashKey is the key with this hash for a pattern of one hashed field.
func HashKey(h int64) Key {
	var room [10]byte
	return Key{enc: string(appendInt64(room[:0], h))}
}

// HashFloor is the lowest hash at or after k, a bound of a single hashed field: its
// number, or the lowest int64 for MinKey. ok is false for any other key. It does not
// allocate.
func (k Key) HashFloor() (h int64, ok bool) {
	n := len(k.enc)
	if n == 0 {
		return 0, false
	}
	class, flip := k.enc[0], byte(0)
	switch {
	case n == 1:
		switch class {
		case classMinKey:
			return math.MinInt64, true
		case classZero:
			return 0, true
		}
		return 0, false
	case class < classZero:
		class, flip = 2*classZero-class, 0xff
	}
	if class < classInteger1 || class > classInteger8 || n != int(class-classInteger1)+3 || k.enc[n-1] != flip {
		return 0, false
	}
	var mag uint64
	for _, c := range []byte(k.enc[1 : n-1]) {
		mag = mag<<8 | uint64(c^flip)
	}
	if flip != 0 {
		return -int64(mag), mag <= 1<<63
	}
	return int64(mag), mag < 1<<63
}
