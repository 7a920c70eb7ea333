package answer

import (
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
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
	if c == nil || v.Profile == nil || v.hidesKeys() || c.Key.Hiding() != nil || !v.Dir.Loaded() {
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

// hidesKeys tells that the reader may not see key values, nor whose they are.
func (v View) hidesKeys() bool { return v.Hidden.Bounds || v.Table.Hiding() != nil }

// idIn is the project's id in a bound. begins tells that the bound is below all keys with that id.
func (k KeyProjects) idIn(bound shardkey.Key) (id bson.ObjectID, begins, ok bool) {
	if k.field < 0 || bound.IsZero() {
		return id, false, false
	}
	values, err := k.key.Values(bound)
	if err != nil {
		return id, false, false
	}
	id, ok = values[k.field].ObjectIDOK()
	isMinKey := func(x bson.RawValue) bool { return x.Type == bson.TypeMinKey }
	return id, !slices.ContainsFunc(values[k.field+1:], func(x bson.RawValue) bool { return !isMinKey(x) }), ok
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

func (k KeyProjects) from(id bson.ObjectID, begins bool) api.KeyProject {
	if p, ok := k.v.Dir.In(k.db, id); ok {
		return api.KeyProject{Project: id.Hex(), ProjectName: NameOf(p)}
	}
	if begins && k.listed(previousID(id)) {
		return api.KeyProject{}
	}
	return api.KeyProject{Project: id.Hex(), Unlisted: slices.Contains(k.v.Dir.Databases(), k.db)}
}

func (k KeyProjects) until(id bson.ObjectID, begins bool, from api.KeyProject) api.KeyProject {
	if before := previousID(id); begins && (before.Hex() == from.Project || k.listed(before)) {
		return api.KeyProject{}
	}
	return k.from(id, begins)
}

func (k KeyProjects) listed(id bson.ObjectID) bool {
	_, ok := k.v.Dir.In(k.db, id)
	return ok
}

// previousID is the id before one, which is the project of a range that ends there.
func previousID(id bson.ObjectID) bson.ObjectID {
	low := binary.BigEndian.Uint64(id[4:])
	binary.BigEndian.PutUint64(id[4:], low-1)
	if low == 0 {
		binary.BigEndian.PutUint32(id[:4], binary.BigEndian.Uint32(id[:4])-1)
	}
	return id
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
