package placement

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Directory is an immutable list of every project of the matched databases.
type Directory struct {
	seq       uint64
	databases []string
	projects  []Project // by name, then id
	folded    []string  // their names in lower case
	byID      map[bson.ObjectID][]int
	byName    map[string][]int
	byText    map[string][]int // by ids that are no ObjectIDs
	byKey     map[string][]int
	health    topology.Health
}

// NewDirectory sorts and indexes projects; health tells how they were read.
func NewDirectory(seq uint64, databases []string, projects []Project, health topology.Health) *Directory {
	d := &Directory{
		seq: seq, databases: databases, projects: slices.Clone(projects), health: health,
		byID: map[bson.ObjectID][]int{}, byName: map[string][]int{}, byText: map[string][]int{}, byKey: map[string][]int{},
	}
	slices.SortFunc(d.projects, func(a, b Project) int {
		return cmp.Or(natural.Compare(a.Name, b.Name), natural.Compare(a.DB, b.DB), slices.Compare(a.ID[:], b.ID[:]))
	})
	d.folded = make([]string, len(d.projects))
	for i, p := range d.projects {
		d.folded[i] = strings.ToLower(p.Name)
		d.byID[p.ID] = append(d.byID[p.ID], i)
		d.byName[p.Name] = append(d.byName[p.Name], i)
		if p.Stored != "" {
			d.byText[p.IDText()] = append(d.byText[p.IDText()], i)
		}
		if p.PublicKey != "" {
			d.byKey[p.PublicKey] = append(d.byKey[p.PublicKey], i)
		}
	}
	return d
}

// Seq grows with each published directory.
func (d *Directory) Seq() uint64 { return d.seq }

// Loaded tells whether the projects were ever read (an empty list can be loaded).
func (d *Directory) Loaded() bool { return !d.health.At.IsZero() }

// Health tells when the projects were last read well and what is wrong since.
func (d *Directory) Health() topology.Health { return d.health }

// Databases are the matched databases, sorted.
func (d *Directory) Databases() []string { return d.databases }

// All lists the projects by name. Do not modify.
func (d *Directory) All() []Project { return d.projects }

// ByID finds a project; the first of several databases that have the id.
func (d *Directory) ByID(id bson.ObjectID) (Project, bool) {
	if i := d.byID[id]; len(i) > 0 {
		return d.projects[i[0]], true
	}
	return Project{}, false
}

// In finds a project of one database.
func (d *Directory) In(db string, id bson.ObjectID) (Project, bool) {
	for _, i := range d.byID[id] {
		if d.projects[i].DB == db {
			return d.projects[i], true
		}
	}
	return Project{}, false
}

// Exactly finds every project that ref names: by id, public key or name, never
// by a part of one, and never case-insensitively (app and APP are two tenants).
func (d *Directory) Exactly(ref string) []Project {
	var hits []int
	if id, err := bson.ObjectIDFromHex(ref); err == nil {
		hits = append(hits, d.byID[id]...)
	}
	hits = append(hits, d.byKey[ref]...)
	hits = append(hits, d.byName[ref]...)
	hits = append(hits, d.byText[ref]...)
	slices.Sort(hits)
	var out []Project
	for _, i := range slices.Compact(hits) {
		out = append(out, d.projects[i])
	}
	return out
}
