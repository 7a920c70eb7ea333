package answer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// KeyProjects tells which projects the bounds of one collection belong to. Each bound costs one lookup
// in a map, so make it once for a list.
type KeyProjects struct {
	v     View
	db    string
	key   shardkey.Pattern
	field int // of the shard key, with the project's id; negative: the key tells no project
}

// KeyProjects reads where the profile has the project's id in a shard key. A hashed field tells no project,
// and neither does a key for people who may not see keys.
func (v View) KeyProjects(c *topology.Collection) KeyProjects {
	k := KeyProjects{v: v, field: -1}
	if c == nil || v.Profile == nil || v.Hidden.Bounds || v.Table.Hiding() != nil || c.Key.Hiding() != nil || !v.Dir.Loaded() {
		return k
	}
	of, ok := v.Profile.Collection(c.NS.Collection())
	if !ok || of.ProjectField == "" {
		return k
	}
	k.db, k.key = c.NS.Database(), c.Key
	k.field = slices.IndexFunc(c.Key.Fields(), func(f shardkey.Field) bool { return f.Name == of.ProjectField && !f.Hashed })
	return k
}

// idIn is the project's id in a bound, as it is stored. begins tells that the bound is below all keys with that id.
func (k KeyProjects) idIn(bound shardkey.Key) (id bson.RawValue, begins, ok bool) {
	if k.field < 0 || bound.IsZero() {
		return id, false, false
	}
	values, err := k.key.Values(bound)
	if err != nil {
		return id, false, false
	}
	_, _, ok = placement.IDOf(values[k.field])
	isMinKey := func(x bson.RawValue) bool { return x.Type == bson.TypeMinKey }
	return values[k.field], !slices.ContainsFunc(values[k.field+1:], func(x bson.RawValue) bool { return !isMinKey(x) }), ok
}

// Of are the projects of a range's lower and upper bound. An upper bound that only ends the range of a
// project is the next possible id: it names nobody, and neither does that id where the next range begins.
func (k KeyProjects) Of(min, max shardkey.Key) (from, until api.KeyProject) {
	if id, begins, ok := k.idIn(min); ok {
		from = k.from(id, begins)
	}
	if id, begins, ok := k.idIn(max); ok {
		until = k.until(id, begins, from)
	}
	return from, until
}

func (k KeyProjects) from(stored bson.RawValue, begins bool) api.KeyProject {
	if p, ok := k.listed(stored); ok {
		return api.KeyProject{Project: p.ID.Hex(), ProjectName: NameOf(p)}
	}
	id, isObjectID := stored.ObjectIDOK()
	if !isObjectID { // a text or number between those of projects may be nobody's
		return api.KeyProject{}
	}
	if _, listed := k.before(stored); begins && listed {
		return api.KeyProject{}
	}
	return api.KeyProject{Project: id.Hex(), Unlisted: slices.Contains(k.v.Dir.Databases(), k.db)}
}

func (k KeyProjects) until(stored bson.RawValue, begins bool, from api.KeyProject) api.KeyProject {
	if before, listed := k.before(stored); begins && (listed || before == from.Project) && before != "" {
		return api.KeyProject{}
	}
	return k.from(stored, begins)
}

// before is the project of a range that ends at an id, and whether it is in the list; "" where no id precedes this one.
func (k KeyProjects) before(stored bson.RawValue) (project string, listed bool) {
	value, ok := shardkey.PreviousValue(stored)
	if !ok {
		return "", false
	}
	id, _, _ := placement.IDOf(value)
	_, listed = k.listed(value)
	return id.Hex(), listed
}

// listed is the project with an id as it is stored.
func (k KeyProjects) listed(stored bson.RawValue) (placement.Project, bool) {
	id, _, _ := placement.IDOf(stored)
	p, ok := k.v.Dir.In(k.db, id)
	return p, ok && shardkey.CompareValues(p.IDValue(), stored) == 0
}

// ProjectsOfRange are those of a range whose bounds are documents.
func (v View) ProjectsOfRange(ns topology.Namespace, min, max bson.Raw) (from, until api.KeyProject) {
	c := v.Table.Collection(ns)
	k := v.KeyProjects(c)
	if k.field < 0 {
		return from, until
	}
	return k.Of(boundOf(c, min), boundOf(c, max))
}

// boundOf is a bound by a collection's key; zero if it is not one.
func boundOf(c *topology.Collection, doc bson.Raw) shardkey.Key {
	if len(doc) == 0 {
		return shardkey.Key{}
	}
	k, err := c.Key.Bound(doc)
	if err != nil {
		return shardkey.Key{}
	}
	return k
}

// ProjectOfBound is the project of a lower bound that answers have as JSON.
func (v View) ProjectOfBound(ns string, min api.Key) api.KeyProject {
	from, _ := v.ProjectsOfBounds(ns, min, nil)
	return from
}

// ProjectsOfBounds are the projects of a range's bounds that answers have as JSON.
func (v View) ProjectsOfBounds(ns string, min, max api.Key) (from, until api.KeyProject) {
	lower, _ := shardkey.ParseExtJSON(string(min)) // what cannot be read names nobody
	upper, _ := shardkey.ParseExtJSON(string(max))
	return v.ProjectsOfRange(topology.Namespace(ns), lower, upper)
}

// LeadsWithProject tells whether each project has its own range of a collection's key space.
func LeadsWithProject(v View, c *topology.Collection) bool {
	if v.Profile == nil {
		return false
	}
	i := slices.IndexFunc(v.Profile.Nearest(v.Table, c.NS.Database()).Collections,
		func(pc profile.Collection) bool { return pc.Name == c.NS.Collection() })
	if i < 0 {
		return false
	}
	pc := v.Profile.Nearest(v.Table, c.NS.Database()).Collections[i]
	return pc.ProjectField != "" && c.Key.LeadsWith(pc.ProjectField)
}

// ProjectRange is a project's own range of a collection's key space; false if it has none, or there is no such
// sharded collection.
func ProjectRange(v View, c *topology.Collection, id bson.ObjectID) (shardkey.Range, bool) {
	if c == nil || !LeadsWithProject(v, c) {
		return shardkey.Range{}, false
	}
	r, err := c.Key.PrefixRange(v.Dir.Value(c.NS.Database(), id))
	return r, err == nil
}
