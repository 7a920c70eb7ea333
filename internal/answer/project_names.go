package answer

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
)

// ProjectName is what a project of a database is called; "" where it is not known.
func (v View) ProjectName(db string, id bson.ObjectID) string {
	p, _ := v.Dir.In(db, id)
	return p.Name
}

// NameOf is a project's name, or its id as it is stored if it has none.
func NameOf(p placement.Project) string {
	if strings.TrimSpace(p.Name) == "" {
		return p.IDText()
	}
	return p.Name
}

// FindProject finds a project by its id: in one database, or in any if db is "".
func FindProject(v View, db string, id bson.ObjectID) (placement.Project, error) {
	p, ok := v.Dir.ByID(id)
	if db != "" {
		p, ok = v.Dir.In(db, id)
	}
	switch {
	case ok:
		return p, nil
	case !v.Dir.Loaded():
		return p, CheckProjects(v)
	}
	return p, fault.New(fault.NotFound, v.Profile.Format("There is no project with id %s (searched: %d, of %s)."),
		id.Hex(), len(v.Dir.All()), format.JoinWords(v.Dir.Databases()))
}

// OnlyProject finds the only project with an id, as it is stored or in addresses, or a name: in one database, or in any
// if db is "".
func OnlyProject(v View, db, text string) (p placement.Project, ok bool) {
	found := slices.DeleteFunc(v.Dir.Exactly(text), func(p placement.Project) bool { return db != "" && p.DB != db })
	if len(found) != 1 || text == "" {
		return p, false
	}
	return found[0], true
}

// ShardsOf names the shards that have a part of a collection.
func ShardsOf(c placement.CollectionSpread) []string {
	return Map(c.Shards, func(part placement.ShardPart) string { return part.Shard })
}

// CountsOf is what the rows of a profile's projects count.
func CountsOf(p *profile.Profile) api.ProjectCounts {
	return api.ProjectCounts{
		DocumentsName: p.DocumentWords().Many, HasDocuments: p.Names.Documents != "", HasClients: p.Names.Clients != "",
	}
}
