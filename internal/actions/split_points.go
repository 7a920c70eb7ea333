package actions

import (
	"math/big"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// equalParts returns the inner bounds that divide a range into equal parts, or a message
// that says why there are none. Hashes are divided by arithmetic; ranges of projects so
// that each part has as many projects.
func (d *draftBuilder) equalParts(c *topology.Collection, r shardkey.Range, parts int) ([]shardkey.Key, message.Message) {
	if hashedLast(c.Key) {
		prefix, lo, hi, ok := hashSpan(c.Key, r)
		if ok {
			return hashPoints(c.Key, prefix, lo, hi, parts)
		}
	}
	ids, known := d.projectsIn(c, r)
	switch {
	case !known:
		return nil, message.New("parts.unknown",
			"The range cannot be divided into equal parts, because the values of {key} are not known. Split "+
				"at the median, or at a key.",
			message.Text("key", c.Key.String()))
	case len(ids) < parts:
		return nil, message.New("parts.few",
			"The chunk contains {projects} "+message.Plural(len(ids), "project", "projects")+
				", too few to split it into {parts} parts between projects.",
			message.Count("projects", len(ids)), message.Count("parts", parts))
	}
	var out []shardkey.Key
	for i := 1; i < parts; i++ {
		if r, ok := projectBounds(c.Key, ids[i*len(ids)/parts]); ok {
			out = append(out, r.Min)
		}
	}
	return out, message.Message{}
}

func hashedLast(p shardkey.Pattern) bool { return p.Len() > 0 && p.Hashed() == p.Len()-1 }

// hashSpan returns the common first values and the hashes of a range whose keys differ
// only in the last field, a hash. hi is the first hash after the range; it may be one
// more than the highest int64.
func hashSpan(p shardkey.Pattern, r shardkey.Range) (prefix []bson.RawValue, lo, hi *big.Int, ok bool) {
	a, err := p.Values(r.Min)
	if err != nil {
		return nil, nil, nil, false
	}
	b, err := p.Values(r.Max)
	if err != nil {
		return nil, nil, nil, false
	}
	n := p.Len() - 1
	lo, hi = hashOf(a[n]), hashOf(b[n])
	if sameValues(a[:n], b[:n]) {
		return a[:n], lo, hi, true
	}
	// [{P, x}, {next(P), MinKey}) contains all keys of P from the hash x on.
	if n == 1 && b[1].Type == bson.TypeMinKey {
		if next, more := shardkey.NextValue(a[0]); more && sameValue(next, b[0]) {
			return a[:n], lo, new(big.Int).Lsh(big.NewInt(1), 63), true
		}
	}
	return nil, nil, nil, false
}

func sameValues(a, b []bson.RawValue) bool {
	return slices.EqualFunc(a, b, func(x, y bson.RawValue) bool { return x.Equal(y) })
}

// hashOf converts a bound of a hash to a number. MinKey is the lowest hash, and MaxKey is
// one more than the highest.
func hashOf(v bson.RawValue) *big.Int {
	switch v.Type {
	case bson.TypeMinKey:
		return new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 63))
	case bson.TypeMaxKey:
		return new(big.Int).Lsh(big.NewInt(1), 63)
	}
	n, _ := v.Int64OK()
	return big.NewInt(n)
}

func hashPoints(p shardkey.Pattern, prefix []bson.RawValue, lo, hi *big.Int, parts int) ([]shardkey.Key, message.Message) {
	width := new(big.Int).Sub(hi, lo)
	if width.Cmp(big.NewInt(int64(parts))) < 0 {
		return nil, message.New("parts.narrow",
			"The chunk covers too few hash values for {parts} parts: {hashes}.",
			message.Text("hashes", width.String()), message.Count("parts", parts))
	}
	var out []shardkey.Key
	for i := 1; i < parts; i++ {
		at := new(big.Int).Mul(width, big.NewInt(int64(i)))
		at.Div(at, big.NewInt(int64(parts))).Add(at, lo)
		out = append(out, hashKey(p, prefix, at.Int64()))
	}
	return out, message.Message{}
}

// hashKey returns the key with these values, followed by a hash.
func hashKey(p shardkey.Pattern, prefix []bson.RawValue, hash int64) shardkey.Key {
	doc := make(bson.D, 0, p.Len())
	for i, v := range prefix {
		doc = append(doc, bson.E{Key: p.Fields()[i].Name, Value: v})
	}
	raw, err := bson.Marshal(append(doc, bson.E{Key: p.Fields()[p.Len()-1].Name, Value: hash}))
	if err != nil {
		return shardkey.Key{}
	}
	k, _ := p.Bound(raw)
	return k
}
