package survey

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Target is a collection that a survey measures. Its fields are stored as JSON; do not rename them.
type Target struct {
	NS       topology.Namespace
	Project  string // field with the project's id
	Document string // field with the Yorkie document's id; "" if none
	Key      []string
	Dead     profile.DeadMark
}

// Query is a query for rows of the target.
func (t Target) Query(limit int) SizeQuery {
	return SizeQuery{NS: t.NS, Project: t.Project, Document: t.Document, Key: t.Key, Dead: t.Dead, Limit: limit}
}

// Targets returns the existing collections of a scope. Unsharded ones are included unless the list
// of collections shows that they do not exist.
func Targets(t *topology.Table, p *profile.Profile, r Request, scope profile.Scope) []Target {
	var out []Target
	for _, db := range p.Match(t) {
		if r.DB != "" && r.DB != db {
			continue
		}
		for _, c := range p.Nearest(t, db).Collections {
			ns := topology.Namespace(db + "." + c.Name)
			if c.Scope != scope || c.ProjectField == "" || r.NS != "" && r.NS != ns {
				continue
			}
			one := Target{NS: ns, Project: c.ProjectField, Document: c.DocumentField, Dead: c.Dead}
			if coll := t.Collection(ns); coll != nil {
				for _, f := range coll.Key.Fields() {
					one.Key = append(one.Key, f.Name)
				}
			} else if t.Unsharded != nil && !slices.Contains(t.Unsharded, ns) {
				continue
			}
			out = append(out, one)
		}
	}
	return out
}

// shardOf is the shard of a row; "" when unknown.
func shardOf(t *topology.Table, ns topology.Namespace, row bson.Raw) string {
	return shardBy(t, ns, func(p shardkey.Pattern) (shardkey.Key, error) { return p.Extract(row) })
}

// ownerOf is the shard of a Yorkie document's rows; "" if document and project do not decide it.
func ownerOf(t *topology.Table, of Target, project, document bson.RawValue) string {
	return shardBy(t, of.NS, func(p shardkey.Pattern) (shardkey.Key, error) {
		var values []bson.RawValue
		for _, f := range p.Fields() {
			switch {
			case f.Name == of.Document:
				values = append(values, document)
			case f.Name == of.Project && project.Type != 0:
				values = append(values, project)
			}
		}
		return p.KeyOf(values...) // an error where a field is of neither
	})
}

func shardBy(t *topology.Table, ns topology.Namespace, keyOf func(shardkey.Pattern) (shardkey.Key, error)) string {
	c := t.Collection(ns)
	if c == nil {
		return t.Primary(ns.Database())
	}
	k, err := keyOf(c.Key)
	if i, chunk := c.Chunks.Find(k); err == nil && i >= 0 {
		return chunk.Shard
	}
	return ""
}
