package format

import (
	"math"
	"strconv"
	"strings"
)

// byteUnits are the units of sizes that people type, larger ones first where one is the end of another.
var byteUnits = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15}, {"b", 1},
}

// ParseBytes reads a size that a person typed, such as 500GB, 1.5TiB or 1048576; false for anything else.
func ParseBytes(typed string) (bytes float64, ok bool) {
	number, unit := strings.ToLower(strings.TrimSpace(typed)), 1.0
	for _, u := range byteUnits {
		if rest, is := strings.CutSuffix(number, u.name); is {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	return n * unit, err == nil && !math.IsNaN(n)
}
