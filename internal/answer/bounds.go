package answer

import (
	"strings"

	"shardboard/internal/shardkey"
)

// BoundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const BoundWidth = 47

// BoundText writes a key for a reader who knows the names of its fields: the values
// alone, ids as hex and numbers as digits, which is also what the filters take.
func BoundText(p shardkey.Pattern, k shardkey.Key) string {
	if p.Hiding() != nil {
		return "hidden: needs the role support"
	}
	values, err := p.Values(k)
	if err != nil {
		return p.Display(k)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = shardkey.PlainValue(v)
	}
	return strings.Join(parts, ", ")
}
