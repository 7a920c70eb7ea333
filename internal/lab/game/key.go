package game

import (
	"crypto/md5"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// The published strategies.
const (
	Ascending = "order"            // "Let George do it": the order dealt, as of ObjectIDs, dates and counters
	Scatter   = "hash(order)"      // "More scatter, less gather": MD5 of the order, as of random UUIDs
	Combo     = "deck,hash(order)" // "Combo plate": the deck, which is coarse time, and then MD5 of the order
)

// Strategies are the published ones, in their order.
func Strategies() []string { return []string{Ascending, Scatter, Combo} }

// MaxKeyParts is how many fields a key may have.
const MaxKeyParts = 4

// Key is a rule by which every observer finds the key of a card: some of its fields, each as it is or hashed.
type Key struct {
	text  string
	parts []part
}

type part struct {
	field  int // position in Workload.Fields
	hashed bool
}

var keyPart = regexp.MustCompile(`^(hash\()?([^(),\s]+)(\))?$`)

// ParseKey reads a key such as deck,hash(order) for a workload.
func ParseKey(text string, w Workload) (k Key, err error) {
	var names []string
	for piece := range strings.SplitSeq(text, ",") {
		m := keyPart.FindStringSubmatch(strings.TrimSpace(piece))
		if m == nil || (m[1] == "") != (m[3] == "") {
			return k, fault.New(fault.Invalid, "key must be fields with commas between them, each as it is or hashed, such as %s, not %q.",
				Combo, sanitize.Truncate(text, 60))
		}
		field := slices.Index(w.Fields, m[2])
		if field < 0 {
			return k, fault.New(fault.Invalid, "key must be made of the fields %s, not of %q.", strings.Join(w.Fields, ", "),
				sanitize.Truncate(m[2], 40))
		}
		k.parts = append(k.parts, part{field, m[1] != ""})
		names = append(names, m[0])
	}
	if len(k.parts) > MaxKeyParts {
		return k, fault.New(fault.Invalid, "key must have at most %d fields, not %d.", MaxKeyParts, len(k.parts))
	}
	k.text = strings.Join(names, ",")
	return k, nil
}

// String is the key as ParseKey reads it.
func (k Key) String() string { return k.text }

// of is the key of a card.
func (k Key) of(c *Card) bound {
	if len(k.parts) == 1 {
		v := k.parts[0].of(c)
		return bound(v)
	}
	var key, text strings.Builder
	for i, p := range k.parts {
		v := p.of(c)
		key.WriteString(v.key)
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(v.text)
	}
	return bound{key.String(), text.String()}
}

// of is one field of a card, hashed as MD5 of what people read.
func (p part) of(c *Card) value {
	v := c.values[p.field]
	if !p.hashed {
		return v
	}
	sum := md5.Sum([]byte(v.text))
	return value{string(sum[:]), hex.EncodeToString(sum[:3])}
}
