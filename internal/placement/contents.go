package placement

import (
	"cmp"
	"slices"

	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Contents is what one shard holds: the answer to "it is sick, who is hit?".
type Contents struct {
	Shard       string
	Collections []CollectionOn // sharded ones with chunks here, then unsharded ones whose primary this is
	Projects    []ProjectOn    // largest part first
	ByDocument  []CollectionOn // document-wide collections with chunks here: they concern every project
	Unknown     []string       // collections of projects that may be here: their chunks are not known
}

// CollectionOn is one collection's part on a shard.
type CollectionOn struct {
	NS      topology.Namespace
	Sharded bool
	Key     string
	Chunks  int
	Of      int     // chunks in all
	Share   float64 // of the chunks, 0..1; 1 when unsharded
	Size    topology.Size
}

// ProjectOn is one project's part on a shard, over the collections whose key
// begins with the project.
type ProjectOn struct {
	Project     Project
	Collections []ProjectPart
	Share       float64 // mean over those collections of the part of its chunks that is here
	Rows        RowShare
	Whole       bool // nothing of these collections is elsewhere
}

// ProjectPart is one such collection.
type ProjectPart struct {
	NS     topology.Namespace
	Chunks int
	Of     int
}

// ShardContents lists what is on a shard. It reads nothing.
func ShardContents(t *topology.Table, dir *Directory, p *profile.Profile, shard string) Contents {
	out := Contents{Shard: shard}
	for _, c := range t.Collections {
		if c.Temporary {
			continue
		}
		if n := c.Chunks.CountByShard()[shard]; n > 0 {
			out.Collections = append(out.Collections, collectionOn(t, c, shard, n))
		}
	}
	for _, ns := range t.Unsharded {
		if t.Primary(ns.Database()) == shard {
			out.Collections = append(out.Collections, CollectionOn{NS: ns, Share: 1, Size: t.SizeOn(ns, shard)})
		}
	}
	byPrefix := map[string][]ownCollection{}
	for _, db := range dir.Databases() {
		for _, pc := range p.Nearest(t, db).Collections {
			ns := topology.Namespace(db + "." + pc.Name)
			c := t.Collection(ns)
			switch {
			case pc.Scope == profile.ScopeCluster:
			case c == nil && t.DamageOf(ns) != nil:
				out.Unknown = append(out.Unknown, pc.Name)
			case c == nil || c.Unsplittable:
			case c.Key.LeadsWith(pc.ProjectField), c.Key.LeadsWithHash(pc.ProjectField):
				byPrefix[db] = append(byPrefix[db], ownCollection{c, pc})
			default:
				if n := c.Chunks.CountByShard()[shard]; n > 0 {
					out.ByDocument = append(out.ByDocument, collectionOn(t, c, shard, n))
				}
			}
		}
	}
	for _, pr := range dir.All() {
		if on, ok := projectOn(t, byPrefix[pr.DB], p.Keys.Collection, pr, shard); ok {
			out.Projects = append(out.Projects, on)
		}
	}
	slices.SortStableFunc(out.Projects, func(a, b ProjectOn) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(b.Project.Documents.Value, a.Project.Documents.Value),
			natural.Compare(a.Project.Name, b.Project.Name))
	})
	return out
}

func collectionOn(t *topology.Table, c *topology.Collection, shard string, chunks int) CollectionOn {
	on := CollectionOn{
		NS:      c.NS,
		Sharded: !c.Unsplittable,
		Key:     c.Key.String(),
		Chunks:  chunks,
		Of:      c.Chunks.Len(),
		Size:    t.SizeOn(c.NS, shard),
	}
	on.Share = float64(chunks) / float64(on.Of)
	return on
}

// ownCollection is a collection whose key begins with the project.
type ownCollection struct {
	*topology.Collection
	profile profile.Collection
}

// weight orders projects by what of them is on a shard: by rows where these are
// known, else by chunks.
func (on ProjectOn) weight() float64 {
	if on.Rows.Known {
		return on.Rows.Middle()
	}
	return on.Share
}

func projectOn(t *topology.Table, colls []ownCollection, keys string, pr Project, shard string) (ProjectOn, bool) {
	on := ProjectOn{Project: pr, Whole: true}
	var rows tally
	for _, c := range colls {
		r, err := c.Key.PrefixRange(pr.IDValue())
		if err != nil {
			continue
		}
		from, to := c.Chunks.Overlap(r)
		part := ProjectPart{NS: c.NS, Of: to - from}
		for i := from; i < to; i++ {
			if c.Chunks.Owner(i) == shard {
				part.Chunks++
			}
		}
		if part.Chunks < part.Of {
			on.Whole = false
		}
		rows.add(part, ownRows(t, pr, c.profile, keys, c.Collection, from, to))
		if part.Chunks > 0 {
			on.Collections = append(on.Collections, part)
			on.Share += float64(part.Chunks) / float64(part.Of) / float64(len(colls))
		}
	}
	on.Rows = rows.share(on.Whole)
	return on, len(on.Collections) > 0
}
