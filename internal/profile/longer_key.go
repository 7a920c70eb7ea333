package profile

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// LongerKey suggests a longer shard key for a collection, so that a project can be divided:
// the present key and the field by which the program finds single rows, hashed where the
// newest layout has it hashed. False if there is nothing to add. Of a nil profile it is
// the present key and _id.
func (p *Profile) LongerKey(c *topology.Collection) (shardkey.Pattern, bool) {
	var of Collection
	if p != nil {
		of, _ = p.Collection(c.NS.Collection())
	}
	for _, name := range of.suffixes() {
		if name == "" || c.Key.HasField(name) {
			continue
		}
		if hashed := c.Key.With(shardkey.Field{Name: name, Hashed: true}); hashed.String() == of.Expected {
			return hashed, true
		}
		return c.Key.With(shardkey.Field{Name: name}), true
	}
	return shardkey.Pattern{}, false
}

// suffixes are fields that tell a row from others of its project, best first.
func (c Collection) suffixes() []string {
	var out []string
	if len(c.FoundBy) > 0 {
		out = append(out, c.FoundBy[0]...)
	}
	return append(out, c.KeyField, "_id")
}

// FoundByWhole reports whether all commands by which the program finds single rows contain
// the whole key; true if the profile does not say how rows are found.
func (c Collection) FoundByWhole(key shardkey.Pattern) bool {
	_, whole := c.FoundWithout(key)
	return whole
}

// FoundWithout returns the first set of fields by which the program finds single rows that
// lacks a field of the key; whole is true if there is none.
func (c Collection) FoundWithout(key shardkey.Pattern) (fields []string, whole bool) {
	for _, set := range c.FoundBy {
		if slices.ContainsFunc(key.Fields(), func(f shardkey.Field) bool { return !slices.Contains(set, f.Name) }) {
			return set, false
		}
	}
	return nil, true
}
