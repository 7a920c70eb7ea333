package profile

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// profile reads the whole file: one layout with the profile's name.
func (r *reader) profile(n *yaml.Node) *Profile {
	t := r.table(n, "", "name", "tenants", "documents", "collections")
	p := &Profile{Name: t.text("name", true)}
	tenants := r.tenants(t, p)
	docs := t.sub(
		"documents",
		"collection",
		"tenant",
		"key",
		"removedAt",
		"createdAt",
		"updatedAt",
		"called",
		"shardKey",
		"holds",
		"writes",
		"writtenAt",
	)
	p.Keys = DocumentFields{
		Collection: docs.collection("collection"), Project: docs.field("tenant", true), Key: docs.field("key", false), AnyType: true,
		RemovedAt: docs.field("removedAt", false), CreatedAt: docs.field("createdAt", false), UpdatedAt: docs.field("updatedAt", false),
	}
	r.distinct(docs, "tenant", "key", "removedAt", "createdAt", "updatedAt")
	p.Called = r.called(docs)
	if p.Keys.Key == "" {
		p.Keys.Key = KeyOfRow
	}
	of := Collection{Name: p.Keys.Collection, ProjectField: p.Keys.Project, DocumentField: "_id", KeyField: p.Keys.Key, Kind: "document",
		Appended: r.appended(docs), WrittenAt: docs.field("writtenAt", false)}
	l := Layout{Name: p.Name, Collections: []Collection{r.keyed(docs, of)}}
	if p.Names.Collection != "" {
		l.Collections = append(l.Collections, Collection{Name: p.Names.Collection, Scope: ScopeCluster,
			ProjectField: p.Names.IDField(), KeyField: p.Names.Name, Unjudged: true, What: tenants.text("holds", false)})
	}
	if p.Names.Collection == p.Keys.Collection {
		r.bad(docs.node, "documents.collection", "tenants and documents must be two collections.")
	}
	l.Collections = append(l.Collections, r.others(t, l.Collections)...)
	p.Layouts = []Layout{l}
	return p
}

// tenants reads what lists the tenants. Without a collection they are the values in the documents.
func (r *reader) tenants(t table, p *Profile) table {
	node, ok := t.value["tenants"]
	if !ok {
		return table{r: r, node: t.node, path: "tenants"}
	}
	of := r.table(node, "tenants", "collection", "id", "name", "called", "publicKey", "createdAt", "documents", "countedAt", "holds")
	p.Tenants = r.called(of)
	if _, ok := of.value["collection"]; !ok {
		for _, name := range []string{"id", "name", "publicKey", "createdAt", "documents", "countedAt", "holds"} {
			if n, ok := of.value[name]; ok {
				r.bad(n, of.at(name), "without tenants.collection there are no rows that could have this field.")
			}
		}
		return of
	}
	p.Names = ProjectFields{
		Collection: of.collection("collection"), ID: of.field("id", false), Name: of.field("name", false),
		PublicKey: of.field("publicKey", false), CreatedAt: of.field("createdAt", false), Documents: of.field("documents", false),
		CountedAt: of.field("countedAt", false),
	}
	r.distinct(of, "name", "publicKey", "createdAt", "documents", "countedAt")
	return of
}

// called reads what one and many of something are called.
func (r *reader) called(of table) Called {
	if _, ok := of.value["called"]; !ok {
		return Called{}
	}
	called := of.sub("called", "one", "many")
	return Called{One: called.text("one", true), Many: called.text("many", true)}
}

// others reads the list of further collections.
func (r *reader) others(t table, taken []Collection) []Collection {
	list, ok := t.value["collections"]
	if !ok {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		r.bad(list, "collections", "expected a list, found %s.", kindOf(list))
		return nil
	}
	var out []Collection
	for i, n := range list.Content {
		c := r.table(
			n,
			fmt.Sprintf("collections[%d]", i),
			"name",
			"tenant",
			"document",
			"key",
			"called",
			"shardKey",
			"holds",
			"writes",
			"writtenAt",
		)
		of := Collection{
			Name: c.collection("name"), ProjectField: c.field("tenant", false), DocumentField: c.field("document", false),
			KeyField: c.field("key", false), Kind: c.text("called", false),
			Appended: r.appended(c), WrittenAt: c.field("writtenAt", false),
		}
		r.distinct(c, "tenant", "document", "key")
		for _, other := range append(taken, out...) {
			if other.Name == of.Name {
				r.bad(n, c.at("name"), "the collection %s is there twice.", of.Name)
			}
		}
		out = append(out, r.keyed(c, of))
	}
	return out
}

// appended reads how a collection is written; "appended" is the only known word.
func (r *reader) appended(c table) bool {
	word := c.text("writes", false)
	if word != "" && word != "appended" {
		r.bad(c.value["writes"], c.at("writes"), "expected the word appended, found %q.", word)
	}
	return word == "appended"
}

// keyed completes a collection by its shard key.
func (r *reader) keyed(t table, c Collection) Collection {
	c.What = t.text("holds", false)
	key, leading, hashed := r.shardKey(t)
	c.Expected, c.Unjudged = key, key == "" && t.value["shardKey"] == nil
	switch {
	case c.DocumentField == "" && c.ProjectField == "":
		c.Scope = ScopeCluster
	case leading != "" && leading == c.ProjectField && !hashed:
		c.Scope = ScopeProject
	case c.DocumentField != "" && c.DocumentField != "_id":
		c.Scope = ScopeDocument
	default:
		c.Scope = ScopeProject
	}
	return c
}

// shardKey reads {field: 1, other: hashed} or the word unsharded, as written in mongosh, and
// returns the first field too.
func (r *reader) shardKey(t table) (key, leading string, hashed bool) {
	n, ok := t.value["shardKey"]
	if !ok {
		return "", "", false
	}
	if n.Kind == yaml.ScalarNode && n.Value == "unsharded" {
		return "", "", false
	}
	if n.Kind != yaml.MappingNode {
		r.bad(n, t.at("shardKey"), `expected fields such as {tenant_id: 1, _id: hashed}, or the word unsharded, found %s.`, kindOf(n))
		return "", "", false
	}
	d := bson.D{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		switch {
		case name.Kind != yaml.ScalarNode || name.Tag != "!!str":
			r.bad(name, t.at("shardKey"), "the name of a field must be text.")
		case value.Kind == yaml.ScalarNode && value.Value == "hashed":
			d = append(d, bson.E{Key: name.Value, Value: "hashed"})
		case value.Kind == yaml.ScalarNode && value.Value == "1" && value.Tag == "!!int":
			d = append(d, bson.E{Key: name.Value, Value: int32(1)})
		default:
			r.bad(value, t.at("shardKey")+"."+sanitize.Truncate(name.Value, shownOfText), "expected 1 or hashed.")
		}
	}
	if r.err != nil {
		return "", "", false
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		r.bad(n, t.at("shardKey"), "this cannot be a shard key.")
		return "", "", false
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		r.bad(n, t.at("shardKey"), "%s", fault.Text(err))
		return "", "", false
	}
	return p.String(), p.Fields()[0].Name, p.Fields()[0].Hashed
}

// distinct rejects one stored field with two meanings: which one counts would depend on the order
// of reading.
func (r *reader) distinct(t table, names ...string) {
	seen := map[string]string{}
	for _, name := range names {
		n, ok := t.value[name]
		if !ok || r.err != nil {
			continue
		}
		if first, twice := seen[n.Value]; twice {
			r.bad(n, t.at(name), "%s is already the field of %s.", n.Value, first)
		}
		seen[n.Value] = name
	}
}
