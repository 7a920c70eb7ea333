package actions

import (
	"math/big"
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// points are the inner bounds that cut a range into equal parts, or why none
// can be named. Hashes are cut by arithmetic; ranges of projects between them,
// equally many in each part.
func (d *draftBuilder) points(c *topology.Collection, r shardkey.Range, parts int) ([]shardkey.Key, message.Message) {
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
			"The key space of {key} cannot be divided into equal parts, because its values are not known. Split "+
				"at the median, or at a key.",
			message.Text("key", c.Key.String()))
	case len(ids) < parts:
		return nil, message.New("parts.few",
			"The chunk holds {projects} projects, too few to split it into {parts} parts between projects.",
			message.Count("projects", len(ids)), message.Count("parts", parts))
	}
	var out []shardkey.Key
	for i := 1; i < parts; i++ {
		lo, _ := projectRange(c.Key, ids[i*len(ids)/parts])
		out = append(out, lo)
	}
	return out, message.Message{}
}

func hashedLast(p shardkey.Pattern) bool { return p.Len() > 0 && p.Hashed() == p.Len()-1 }

// hashSpan takes a range apart whose keys differ in the last field, a hash, only.
// hi is the first hash after the range, one more than the highest int64 at most.
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
	if same(a[:n], b[:n]) {
		return a[:n], lo, hi, true
	}
	// [{P, x}, {next(P), MinKey}) is all of P from x on.
	if n == 1 && a[0].Type == bson.TypeObjectID && b[0].Type == bson.TypeObjectID && b[1].Type == bson.TypeMinKey {
		if next, more := nextID(a[0].ObjectID()); more && next == b[0].ObjectID() {
			return a[:n], lo, new(big.Int).Lsh(big.NewInt(1), 63), true
		}
	}
	return nil, nil, nil, false
}

func same(a, b []bson.RawValue) bool {
	return slices.EqualFunc(a, b, func(x, y bson.RawValue) bool { return x.Equal(y) })
}

// hashOf is a bound of a hash as a number; MinKey is the lowest hash and MaxKey
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
			"The chunk covers only {hashes} hash values, too few for {parts} parts.",
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

// hashKey is the key with these values before a last field that is hashed.
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

// projectsIn are the projects whose keys begin in a range, in order; false when
// the key does not lead with the project or the projects are not known.
func (d *draftBuilder) projectsIn(c *topology.Collection, r shardkey.Range) ([]bson.ObjectID, bool) {
	if d.s.Profile == nil || d.s.Directory == nil || !d.s.Directory.Loaded() {
		return nil, false
	}
	coll, ok := d.s.Profile.Collection(c.NS.Collection())
	if !ok || !c.Key.LeadsWith(coll.ProjectField) {
		return nil, false
	}
	ids := d.idsOf(c.NS.Database())
	first := func(bound shardkey.Key) int {
		return sort.Search(len(ids), func(i int) bool {
			lo, _ := projectRange(c.Key, ids[i])
			return lo.Compare(bound) >= 0
		})
	}
	from := first(r.Min)
	return ids[from:max(from, first(r.Max))], true
}

// idsOf are the ids of a database's projects, in order; sorted once a draft.
func (d *draftBuilder) idsOf(db string) []bson.ObjectID {
	if ids, ok := d.ids[db]; ok {
		return ids
	}
	var out []bson.ObjectID
	for _, p := range d.s.Directory.All() {
		if p.DB == db {
			out = append(out, p.ID)
		}
	}
	slices.SortFunc(out, func(a, b bson.ObjectID) int { return slices.Compare(a[:], b[:]) })
	d.ids[db] = out
	return out
}
