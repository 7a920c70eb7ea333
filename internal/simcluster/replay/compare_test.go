package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// comparison compares documents according to the rules.
type comparison struct {
	rules *rules
	pairs *correspondence
	loose bool // only types are compared
	out   []string
}

func (c *comparison) reportDifference(path []string, format string, args ...any) {
	c.out = append(c.out, truncate(strings.Join(path, ".")+" "+fmt.Sprintf(format, args...)))
}

// compareValue compares one value. path begins with the command's or dump's name.
func (c *comparison) compareValue(path []string, want, got bson.RawValue) {
	as := c.rules.methodFor(path)
	switch as {
	case ignored:
		return
	case same:
		if why := c.pairs.pair(want, got); why != "" {
			c.reportDifference(path, "%s", why)
		}
		return
	}
	switch {
	case want.Type != got.Type:
		c.reportDifference(path, "is %s %s, recorded %s %s", got.Type, got, want.Type, want)
	case as == typeOnly:
	case want.Type == bson.TypeEmbeddedDocument:
		c.compareDocument(path, want.Document(), got.Document())
	case c.loose && want.Type == bson.TypeArray:
	case want.Type == bson.TypeArray:
		c.compareArray(path, want, got)
	case (!c.loose || path[len(path)-1] == "code" || path[len(path)-1] == "codeName") && !bytes.Equal(want.Value, got.Value):
		c.reportDifference(path, "is %s, recorded %s", got, want)
	}
}

func (c *comparison) compareDocument(path []string, want, got bson.Raw) {
	list, _ := want.Elements()
	var order []string
	for _, e := range list {
		key := e.Key()
		g, err := got.LookupErr(key)
		if host, of, ok := strings.Cut(key, "/"); err != nil && ok {
			g, err = memberOf(got, host)
			_ = of
		}
		at := append(slices.Clone(path), key)
		if err != nil {
			if c.rules.methodFor(at) != ignored {
				c.reportDifference(at, "is missing, recorded %s", e.Value())
			}
			continue
		}
		if c.rules.methodFor(at) != ignored {
			order = append(order, key)
		}
		c.compareValue(at, e.Value(), g)
	}
	list, _ = got.Elements()
	at, ordered := 0, !c.loose && c.rules.pairingKey(path) == nil
	for _, e := range list {
		key := e.Key()
		if _, err := want.LookupErr(key); err != nil {
			if host, _, ok := strings.Cut(key, "/"); ok {
				if _, err := memberOf(want, host); err == nil {
					continue
				}
			}
			if full := append(slices.Clone(path), key); c.rules.methodFor(full) != ignored {
				c.reportDifference(full, "is %s, and was not recorded", e.Value())
			}
			continue
		}
		if c.rules.methodFor(append(slices.Clone(path), key)) == ignored {
			continue
		}
		if at < len(order) && order[at] != key && ordered {
			c.reportDifference(path, "has %s where %s was recorded", key, order[at])
			return
		}
		at++
	}
}

// memberOf finds a field named by a replica set and its members, whose ports are
// each cluster's own.
func memberOf(d bson.Raw, set string) (bson.RawValue, error) {
	list, _ := d.Elements()
	for _, e := range list {
		if strings.HasPrefix(e.Key(), set+"/") {
			return e.Value(), nil
		}
	}
	return bson.RawValue{}, fmt.Errorf("no member of %s", set)
}

func (c *comparison) compareArray(path []string, want, got bson.RawValue) {
	w, _ := want.Array().Values()
	g, _ := got.Array().Values()
	if by := c.rules.pairingKey(path); by != nil {
		c.sortItems(by, w, true)
		c.sortItems(by, g, false)
	}
	c.compareItems(path, w, g)
}

func (c *comparison) compareItems(path []string, w, g []bson.RawValue) {
	if len(w) != len(g) {
		c.reportDifference(path, "has %d items, recorded %d", len(g), len(w))
	}
	for i := range min(len(w), len(g)) {
		c.compareValue(path, w[i], g[i])
	}
}

// sortItems sorts items by key after translating recorded values to ours.
func (c *comparison) sortItems(by []string, list []bson.RawValue, recorded bool) {
	key := func(v bson.RawValue) string {
		var b strings.Builder
		for _, name := range by {
			f, _ := v.Document().LookupErr(name)
			if recorded {
				b.WriteString(c.pairs.ourValue(f))
			} else {
				b.WriteString(typedBytes(f))
			}
			b.WriteByte(0)
		}
		return b.String()
	}
	slices.SortStableFunc(list, func(a, b bson.RawValue) int { return cmp.Compare(key(a), key(b)) })
}
