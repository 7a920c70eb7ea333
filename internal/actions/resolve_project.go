package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// project finds the project that the arguments name, and puts its id and database into
// the arguments.
func (s Situation) project(a *Args) (placement.Project, error) {
	none := placement.Project{}
	names := func(k fault.Kind, rest string, args ...any) (placement.Project, error) {
		return none, fault.New(k, "The argument %q names %q, "+s.Profile.Format(rest), append([]any{"project", a.Project}, args...)...)
	}
	if s.Directory == nil || s.Profile == nil {
		return names(fault.NotFound, "and no list of projects is known here.")
	}
	found := s.Directory.Exactly(a.Project)
	if a.DB != "" {
		found = slices.DeleteFunc(found, func(p placement.Project) bool { return p.DB != a.DB })
	}
	switch {
	case len(found) == 0 && a.DB != "":
		return names(fault.NotFound, "and no project in the database %s has that id, name or public key.", a.DB)
	case len(found) == 0:
		return names(fault.NotFound, "and no project has that id, name or public key.")
	case len(found) == 1:
		a.Project, a.DB = found[0].ID.Hex(), found[0].DB
		return found[0], nil
	}
	for _, p := range found[1:] {
		if p.DB != found[0].DB {
			return names(fault.Invalid, "which several databases have; choose one with \"db\".")
		}
	}
	return names(fault.Invalid, "which matches several projects; give the id.")
}

// projectRange is the key range of a project in one collection. Its ends are those of projectBounds.
type projectRange struct {
	c      *topology.Collection
	lo, hi shardkey.Key // [lo, hi) are the keys of the project and of nothing else
}

// projectRanges returns the project's range in each sharded collection whose shard key
// begins with the project, by namespace. It also notes the collections in which the
// project's data stays where it is.
func (d *draftBuilder) projectRanges(p placement.Project) []projectRange {
	var out []projectRange
	for _, coll := range d.s.Profile.Nearest(d.s.Table, p.DB).Collections {
		if coll.Scope == profile.ScopeCluster {
			continue
		}
		ns := topology.Namespace(p.DB + "." + coll.Name)
		c := d.s.Table.Collection(ns)
		switch {
		case c == nil && slices.Contains(d.s.Table.Unsharded, ns), c != nil && c.Unsplittable:
			d.stays = append(d.stays, message.New("unsharded",
				"{ns} is not sharded and stays on {shard}.",
				message.Namespace("ns", ns), message.Shard("shard", d.now.Home(ns))))
		case c == nil || c.Temporary || c.Chunks.Len() == 0:
		case !c.Key.LeadsWith(coll.ProjectField) && !c.Key.LeadsWithHash(coll.ProjectField):
			pattern := "The shard key of {ns}, {key}, does not begin with the project, whose data in it stays spread over {shards} shards."
			if len(c.Chunks.CountByShard()) == 1 {
				pattern = "The shard key of {ns}, {key}, does not begin with the project, whose data in it stays where it is."
			}
			d.stays = append(d.stays, message.New("byDocument", pattern,
				message.Namespace("ns", ns), message.Text("key", c.Key.String()),
				message.Count("shards", len(c.Chunks.CountByShard()))))
		default:
			r, ok := projectBounds(c.Key, p.IDValue())
			if !ok {
				d.stays = append(d.stays, message.New("highestID",
					"{ns} stays as it is: the project’s id {id} is the highest of its type, so no range ends just after it.",
					message.Namespace("ns", ns), message.Key("id", p.IDText())))
				continue
			}
			out = append(out, projectRange{c: c, lo: r.Min, hi: d.beforeNextProject(c, r)})
		}
	}
	slices.SortFunc(out, func(a, b projectRange) int { return byName(a.c, b.c) })
	return out
}

// projectBounds returns the key range of a project: from its id to the next possible id, with MinKey in the other
// fields of both; where the id is hashed, from its hash to the next. false for an id of which no next one is known.
func projectBounds(p shardkey.Pattern, id bson.RawValue) (r shardkey.Range, ok bool) {
	r, err := p.PrefixRange(id)
	if err != nil {
		return r, false
	}
	first, err := p.Values(r.Min) // the id, or its hash
	if err != nil {
		return r, false
	}
	next, ok := shardkey.NextValue(first[0])
	switch {
	case p.Hashed() == 0 && next.Type != bson.TypeInt64: // the highest hash
		r.Max = p.Max()
	case !ok:
		return r, false
	default:
		r.Max = prefixKey(p, next)
	}
	return r, true
}

// beforeNextProject is the end of a project's range. That of a whole number is the next whole number, unless a project
// has a fraction between them as its id.
func (d *draftBuilder) beforeNextProject(c *topology.Collection, r shardkey.Range) shardkey.Key {
	if ids, known := d.projectsIn(c, r); known && len(ids) > 1 {
		if next, ok := projectBounds(c.Key, ids[1]); ok {
			return next.Min
		}
	}
	return r.Max
}

// prefixKey is the key with the value in its first field and MinKey in the others; the
// zero key for a value that no bound can have.
func prefixKey(p shardkey.Pattern, first bson.RawValue) shardkey.Key {
	doc := make(bson.D, p.Len())
	for i, f := range p.Fields() {
		doc[i] = bson.E{Key: f.Name, Value: bson.MinKey{}}
	}
	doc[0].Value = first
	raw, err := bson.Marshal(doc)
	if err != nil {
		return shardkey.Key{}
	}
	k, _ := p.Bound(raw)
	return k
}
