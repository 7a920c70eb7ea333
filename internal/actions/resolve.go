package actions

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func missing(kind Kind, name, what string) error {
	return fault.New(fault.Invalid, "%s needs the argument %q: %s.", kind, name, what)
}

// collectionOf finds a sharded collection whose chunks can be changed.
func collectionOf(t *topology.Table, kind Kind, ns topology.Namespace) (*topology.Collection, error) {
	if ns == "" {
		return nil, missing(kind, "ns", "a collection as database.collection")
	}
	c := t.Collection(ns)
	d := t.DamageOf(ns)
	switch {
	case d != nil && d.NoRoom != nil:
		return nil, fault.New(fault.Conflict, "%s Nothing can be planned for it until then.", d.Text)
	case d != nil:
		return nil, fault.New(fault.Conflict,
			"The routing table of %q is damaged or not read yet, and MongoDB refuses every operation on a damaged one; "+
				"nothing can be planned for it.",
			string(ns))
	case c == nil && slices.Contains(t.Unsharded, ns):
		return nil, fault.New(fault.Invalid, "The argument \"ns\" names %q, which is not sharded: it has no chunks.", string(ns))
	case c == nil:
		return nil, fault.New(fault.NotFound, "The argument \"ns\" names %q, and there is no sharded collection with that name.", string(ns))
	case c.Unsplittable:
		return nil, fault.New(fault.Invalid,
			"The argument \"ns\" names %q, which is not sharded: it is kept as one piece on one shard. Move it with move-collection.", string(ns))
	case c.Temporary:
		return nil, fault.New(fault.Invalid,
			"The argument \"ns\" names %q, the temporary copy of a collection that is being resharded; it must not be changed.", string(ns))
	case c.Chunks.Len() == 0:
		return nil, fault.New(fault.NotFound, "The chunks of %q are not known yet; try again in a moment.", string(ns))
	}
	return c, nil
}

// checkShard refuses the name of a shard in an argument that there is not.
func checkShard(t *topology.Table, kind Kind, name, value string) error {
	if value == "" {
		return missing(kind, name, "the name of a shard")
	}
	if t.Shard(value) == nil {
		return fault.New(fault.NotFound, "The argument %q names the shard %q, which does not exist.", name, value)
	}
	return nil
}

// completeKey reads an argument that must be a complete shard key. Fields that hold ids
// by the profile must be ids: servers accept a key of another type, but no row ever
// has such a key.
func (s Situation) completeKey(c *topology.Collection, name string, doc bson.Raw) (shardkey.Key, error) {
	k, err := c.Key.Bound(doc)
	if err != nil {
		return shardkey.Key{}, fault.Wrap(fault.Invalid, err,
			"The argument %q is not a complete shard key of %s: it needs exactly the fields of %s, in this order, hashed ones as NumberLong.",
			name, string(c.NS), c.Key)
	}
	return k, s.checkIDTypes(c, name, k, c.Key.Len())
}

// checkIDTypes refuses a key with a value that is of no type that ids have, in a field that holds ids by
// the profile. Only the first given fields are checked.
func (s Situation) checkIDTypes(c *topology.Collection, name string, k shardkey.Key, given int) error {
	if s.Profile == nil {
		return nil
	}
	coll, known := s.Profile.Collection(c.NS.Collection())
	if !known || !slices.Contains(s.Profile.Match(s.Table), c.NS.Database()) {
		return nil
	}
	values, err := c.Key.Values(k)
	if err != nil {
		return err
	}
	for i, f := range c.Key.Fields()[:given] {
		v := values[i]
		if f.Hashed || v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey {
			continue
		}
		var ids []bson.Type // none: not known
		switch f.Name {
		case coll.ProjectField:
			ids = s.projectIDTypes(c.NS.Database())
		case coll.DocumentField:
			ids = s.yorkieIDTypes()
		}
		if len(ids) > 0 && !slices.Contains(ids, idType(v.Type)) {
			return fault.New(fault.Invalid, "The argument %q has a %s as %s, where the rows of %s have %s.", name, v.Type, f.Name, string(c.NS),
				typesText(ids))
		}
	}
	return nil
}

// projectIDTypes are the types of the ids of a database's projects, as far as they are known.
func (s Situation) projectIDTypes(db string) (out []bson.Type) {
	if s.Directory != nil {
		for _, p := range s.Directory.All() {
			if t := idType(p.IDValue().Type); p.DB == db && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return s.yorkieIDTypes()
	}
	return out
}

func (s Situation) yorkieIDTypes() []bson.Type {
	if s.Profile.Name == profile.Yorkie().Name {
		return []bson.Type{bson.TypeObjectID}
	}
	return nil
}

// idType is one type for all that are compared with each other.
func idType(t bson.Type) bson.Type {
	switch t {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return bson.TypeDouble
	case bson.TypeSymbol:
		return bson.TypeString
	}
	return t
}

func typesText(types []bson.Type) string {
	out := make([]string, len(types))
	for i, t := range types {
		switch t {
		case bson.TypeObjectID:
			out[i] = "an ObjectID"
		case bson.TypeDouble:
			out[i] = "a number"
		default:
			out[i] = "a value of type " + t.String()
		}
	}
	return strings.Join(out, " or ")
}
