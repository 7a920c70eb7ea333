package access

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// dataRules has the rules of collection and document commands.
func dataRules() map[string]rule {
	return map[string]rule{
		"find": collection("find"), "count": collection("find"), "distinct": collection("find"),
		"aggregate": {allows: mayAggregate}, "explain": {allows: mayExplain},
		"insert": {allows: mayInsert}, "update": {allows: mayUpdate}, "delete": collection("remove"),
		"findAndModify": {allows: mayFindAndModify},

		"create": {allows: mayCreate}, "drop": collection("dropCollection"), "dropDatabase": database("dropDatabase"),
		"renameCollection": onAdmin(rule{allows: mayRename}), "listCollections": {allows: mayListCollections},
		"listIndexes": collection("listIndexes"), "createIndexes": collection("createIndex"), "dropIndexes": collection("dropIndex"),
		"collStats": collection("collStats"), "dataSize": namespace("find"), "dbStats": database("dbStats"),
	}
}

// bypassing adds the action for bypassDocumentValidation.
func bypassing(r *engine.Request, actions ...string) []string {
	if truthy(r.Lookup("bypassDocumentValidation")) {
		return append(actions, "bypassDocumentValidation")
	}
	return actions
}

func mayInsert(s *Session, r *engine.Request) bool {
	return s.May(target(r), bypassing(r, "insert")...)
}

func mayUpdate(s *Session, r *engine.Request) bool {
	actions := bypassing(r, "update")
	upserts := func(u bson.Raw) bool { return truthy(value.Field(u, "upsert")) }
	inserts := slices.ContainsFunc(r.Docs["updates"], upserts)
	for u := range value.Items(r.Lookup("updates")) {
		inserts = inserts || u.Type == bson.TypeEmbeddedDocument && upserts(u.Value)
	}
	if inserts {
		actions = append(actions, "insert")
	}
	return s.May(target(r), actions...)
}

func mayFindAndModify(s *Session, r *engine.Request) bool {
	actions := bypassing(r, "find")
	if truthy(r.Lookup("remove")) {
		actions = append(actions, "remove")
	}
	if r.Lookup("update").Type != 0 {
		actions = append(actions, "update")
	}
	if truthy(r.Lookup("upsert")) {
		actions = append(actions, "insert")
	}
	return s.May(target(r), actions...)
}

// mayCreate also accepts the insert privilege, because inserts create collections.
func mayCreate(s *Session, r *engine.Request) bool {
	return s.May(target(r), "createCollection") ||
		!truthy(r.Lookup("capped")) && s.May(target(r), "insert")
}

func mayRename(s *Session, r *engine.Request) bool {
	from := named(r)
	ns, _ := r.Lookup("to").StringValueOK()
	to := parsed(ns)
	if from.db == to.db && normal(from.db, from.coll) && normal(to.db, to.coll) && s.May(OnDatabase(from.db), "renameCollectionSameDB") {
		return true
	}
	actions := []string{"insert", "createIndex"}
	if truthy(r.Lookup("dropTarget")) {
		actions = append(actions, "dropCollection")
	}
	return s.May(from, "find", "dropCollection") && s.May(to, actions...)
}

// mayListCollections allows authorizedCollections with nameOnly to users with any
// privilege in the database.
func mayListCollections(s *Session, r *engine.Request) bool {
	return s.May(OnDatabase(r.DB), "listCollections") ||
		truthy(r.Lookup("nameOnly")) && truthy(r.Lookup("authorizedCollections")) && s.MayAnythingIn(r.DB)
}

// mayExplain requires the privileges of the explained command.
func mayExplain(s *Session, r *engine.Request) bool {
	body, ok := r.Lookup(r.Name).DocumentOK()
	if !ok {
		return true // not a command: fails later
	}
	name, _ := value.First(body)
	u, known := s.control.ruleOf(name)
	return known && name != "explain" && (u.allows == nil || u.allows(s, &engine.Request{DB: r.DB, Name: name, Body: body}))
}

func truthy(v bson.RawValue) bool {
	if v.Type == bson.TypeBoolean {
		return v.Boolean()
	}
	return value.IsNumber(v) && value.Float(v) != 0
}
