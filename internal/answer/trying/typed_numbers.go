package trying

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// mostBytes bounds sizes that people type, so that sums of them stay numbers.
const mostBytes = 1 << 53

// typedBytes reads a size from 1 byte on, such as 500GB, 1.5TiB or 1048576; absent is 0.
func typedBytes(in url.Values, name string) (int64, error) {
	typed := strings.TrimSpace(in.Get(name))
	if typed == "" {
		return 0, nil
	}
	n, ok := format.ParseBytes(typed)
	if !ok || n < 1 || n > mostBytes {
		return 0, fault.New(fault.Invalid, "%s must be a size from 1 byte to %s, such as 500GB or 1.5TiB, not %q.", name,
			format.Bytes(mostBytes), sanitize.Truncate(typed, 40))
	}
	return int64(n), nil
}

// BytesTyped writes a size so that it is read as exactly that: in the largest unit without a fraction.
func BytesTyped(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}} {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// realNumber reads a number that may have a fraction.
func realNumber(in url.Values, name string, least, most, absent float64) (float64, error) {
	typed := strings.TrimSpace(in.Get(name))
	if typed == "" {
		return absent, nil
	}
	n, err := strconv.ParseFloat(typed, 64)
	if err != nil || math.IsNaN(n) || n < least || n > most {
		return 0, fault.New(fault.Invalid, "%s must be a number from %g to %g, not %q.", name, least, most, sanitize.Truncate(typed, 40))
	}
	return n, nil
}
