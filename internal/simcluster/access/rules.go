package access

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// rule decides who may run a command.
type rule struct {
	open bool // allowed without signing in
	// allows decides from the command's arguments; nil allows every signed-in user.
	allows func(s *Session, r *engine.Request) bool
}

// Known reports whether there is a rule for a command. A command without a rule is
// refused.
func (c *Control) Known(command string) bool {
	_, ok := c.ruleOf(command)
	return ok
}

// Authorize fails when a session may not run a command.
func (c *Control) Authorize(s *Session, r *engine.Request) error {
	if !c.enforced {
		return nil
	}
	u, known := c.ruleOf(r.Name)
	if known && u.open {
		return nil
	}
	if !s.SignedIn() {
		command := "command"
		if c.major >= 8 {
			command = "Command"
		}
		return status.Errorf(status.Unauthorized, "%s %s requires authentication", command, r.Command())
	}
	if known && (u.allows == nil || u.allows(s, r)) || !known && s.May(anyResource(), "internal") {
		return nil
	}
	return status.Errorf(status.Unauthorized, "not authorized on %s to execute command %s", r.DB, shown(r))
}

// shown is a command as quoted in a refusal: without passwords, with long strings and
// binary data truncated (BSONElement::toString, MongoDB 5.0).
func shown(r *engine.Request) string {
	return value.Text(value.Doc(shorten(r.Body, func(key string) bool {
		return key == "pwd" && (r.Name == "createUser" || r.Name == "updateUser")
	})))
}

// shorten replaces hidden top-level fields by "xxx" and truncates long values.
func shorten(doc bson.Raw, hidden func(key string) bool) bson.Raw {
	b := value.NewBuilder(len(doc))
	for key, v := range value.Elements(doc) {
		switch {
		case hidden(key):
			v = value.String("xxx")
		case v.Type == bson.TypeString && len(v.Value) > 4+160:
			v = value.String(string(v.Value[4:4+70]) + "...")
		case v.Type == bson.TypeBinary && len(v.Value) > 5+80:
			// A Code value is printed without quotes.
			long := value.Text(bson.RawValue{Type: v.Type, Value: v.Value[:5+70]})
			v = bson.RawValue{Type: bson.TypeJavaScript, Value: value.String(strings.TrimSuffix(long, ")") + "...)").Value}
		case v.Type == bson.TypeEmbeddedDocument, v.Type == bson.TypeArray:
			v.Value = shorten(v.Value, func(string) bool { return false })
		}
		b.Append(key, v)
	}
	return b.Raw()
}

func (c *Control) ruleOf(command string) (rule, bool) {
	u, ok := c.rules[engine.CurrentName(command)]
	return u, ok
}

// allRules returns the rules of all commands by name, those of the mongos of MongoDB
// 5.0.
func allRules() map[string]rule {
	all := generalRules()
	maps.Copy(all, dataRules())
	maps.Copy(all, shardingRules())
	maps.Copy(all, userRules())
	return all
}

// generalRules has the rules of server and connection commands.
func generalRules() map[string]rule {
	list := map[string]rule{
		"currentOp": cluster("inprog"), "getParameter": cluster("getParameter"),
		"getCmdLineOpts": cluster("getCmdLineOpts"), "getLog": cluster("getLog"),
		"commitTransaction": {}, "abortTransaction": {},

		"hostInfo": cluster("hostInfo"), "serverStatus": cluster("serverStatus"), "connPoolStats": cluster("connPoolStats"),
		"killAllSessionsByPattern": cluster("killAnySession"),
	}
	for _, name := range []string{
		"hello", "isMaster", "ping", "buildInfo", "connectionStatus", "whatsmyuri",
		"saslStart", "saslContinue", "authenticate", "logout", "endSessions",
	} {
		list[name] = rule{open: true}
	}
	// Sessions belong to the user; the owner of a cursor is checked on use.
	for _, name := range []string{"startSession", "refreshSessions", "killSessions", "isdbgrid", "listDatabases", "getMore", "killCursors"} {
		list[name] = rule{}
	}
	return list
}

// on requires actions on a resource.
func on(r Resource, actions ...string) rule {
	return rule{allows: func(s *Session, _ *engine.Request) bool { return s.May(r, actions...) }}
}

// cluster requires actions on the cluster.
func cluster(actions ...string) rule { return on(OnCluster(), actions...) }

// database requires actions on the command's database.
func database(actions ...string) rule {
	return rule{allows: func(s *Session, r *engine.Request) bool { return s.May(OnDatabase(r.DB), actions...) }}
}

// collection requires actions on the collection in the command's first field.
func collection(actions ...string) rule {
	return rule{allows: func(s *Session, r *engine.Request) bool { return s.May(target(r), actions...) }}
}

// namespace requires actions on the "db.coll" in the command's first field.
func namespace(actions ...string) rule {
	return rule{allows: func(s *Session, r *engine.Request) bool { return s.May(named(r), actions...) }}
}

// target is the collection in the command's first field.
func target(r *engine.Request) Resource {
	coll, _ := r.Lookup(r.Name).StringValueOK()
	return OnNamespace(r.DB, coll)
}

// named is the "db.coll" in the command's first field.
func named(r *engine.Request) Resource {
	ns, _ := r.Lookup(r.Name).StringValueOK()
	return parsed(ns)
}

func parsed(ns string) Resource {
	db, coll, _ := strings.Cut(ns, ".")
	return OnNamespace(db, coll)
}

// dataRules has the rules of collection and document commands.
func dataRules() map[string]rule {
	return map[string]rule{
		"find": collection("find"), "count": collection("find"), "distinct": collection("find"),
		"aggregate": {allows: mayAggregate}, "explain": {allows: mayExplain},
		"insert": {allows: mayInsert}, "update": {allows: mayUpdate}, "delete": collection("remove"),
		"findAndModify": {allows: mayFindAndModify},

		"create": {allows: mayCreate}, "drop": collection("dropCollection"), "dropDatabase": database("dropDatabase"),
		"renameCollection": {allows: mayRename}, "listCollections": {allows: mayListCollections},
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

func truthy(v bson.RawValue) bool { return value.True(v) }

// shardingRules has the rules of commands on shards, chunks, zones and the balancer.
func shardingRules() map[string]rule {
	settings := OnNamespace("config", "settings")
	return map[string]rule{
		"listShards": cluster("listShards"), "getShardMap": cluster("getShardMap"),
		"addShard": cluster("addShard"), "removeShard": cluster("removeShard"),
		"startShardDraining": cluster("removeShard"), "stopShardDraining": cluster("removeShard"),
		"shardDrainingStatus": cluster("removeShard"), "commitShardRemoval": cluster("removeShard"),
		"flushRouterConfig":                   cluster("flushRouterConfig"),
		"transitionFromDedicatedConfigServer": cluster("transitionFromDedicatedConfigServer"),
		"transitionToDedicatedConfigServer":   cluster("transitionToDedicatedConfigServer"),

		"enableSharding": {allows: inDatabase("enableSharding")}, "movePrimary": {allows: inDatabase("moveChunk")},
		"shardCollection": namespace("enableSharding"), "refineCollectionShardKey": namespace("refineCollectionShardKey"),
		"reshardCollection": namespace("reshardCollection"), "abortReshardCollection": namespace("reshardCollection"),
		"commitReshardCollection": namespace("reshardCollection"), "cleanupReshardCollection": namespace("reshardCollection"),
		"untrackUnshardedCollection": namespace("moveCollection"),
		"moveCollection":             namespace("moveCollection"), "abortMoveCollection": namespace("moveCollection"),
		"unshardCollection": namespace("unshardCollection"), "abortUnshardCollection": namespace("unshardCollection"),
		"split": namespace("splitChunk"), "mergeChunks": namespace("splitChunk"), "mergeAllChunksOnShard": namespace("splitChunk"),
		"moveChunk": namespace("moveChunk"), "moveRange": namespace("moveChunk"), "setAllowMigrations": namespace("moveChunk"),
		"clearJumboFlag": namespace("clearJumboFlag"), "getShardVersion": namespace("getShardVersion"),
		"configureCollectionBalancing": namespace("splitChunk"), "balancerCollectionStatus": namespace("enableSharding"),
		"analyzeShardKey": namespace("analyzeShardKey"), "configureQueryAnalyzer": namespace("configureQueryAnalyzer"),

		"balancerStart": on(settings, "update"), "balancerStop": on(settings, "update"), "balancerStatus": on(settings, "find"),

		"addShardToZone": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") || s.May(OnNamespace("config", "shards"), "update")
		}},
		"removeShardFromZone": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") ||
				s.May(OnNamespace("config", "shards"), "update") && s.May(OnNamespace("config", "tags"), "find")
		}},
		"updateZoneKeyRange": {allows: func(s *Session, _ *engine.Request) bool {
			return s.May(OnCluster(), "enableSharding") ||
				s.May(OnNamespace("config", "shards"), "find") && s.May(OnNamespace("config", "tags"), "find", "update", "remove")
		}},
		"checkMetadataConsistency": {allows: func(s *Session, r *engine.Request) bool {
			// Who may check the cluster may check any part of it: no role has the action on databases.
			coll, one := r.Lookup(r.Name).StringValueOK()
			return s.May(OnCluster(), "checkMetadataConsistency") || one && s.May(OnNamespace(r.DB, coll), "checkMetadataConsistency") ||
				r.DB != "admin" && s.May(OnDatabase(r.DB), "checkMetadataConsistency")
		}},
	}
}

// inDatabase requires an action on the database in the command's first field.
func inDatabase(action string) func(*Session, *engine.Request) bool {
	return func(s *Session, r *engine.Request) bool {
		db, _ := r.Lookup(r.Name).StringValueOK()
		return s.May(OnDatabase(db), action)
	}
}

// mayAggregate checks the privileges of every stage, including sub-pipelines, and find
// on the collection unless the first stage is a source.
func mayAggregate(s *Session, r *engine.Request) bool {
	on := target(r)
	on.coll = cmp.Or(on.coll, "$cmd.aggregate")
	return s.mayPipeline(on, r.Lookup("pipeline"))
}

// mayPipeline checks stages that read a collection.
func (s *Session) mayPipeline(on Resource, stages bson.RawValue) bool {
	first := true
	for stage := range value.Items(stages) {
		if stage.Type != bson.TypeEmbeddedDocument {
			return true // fails as malformed
		}
		name, arg := value.First(stage.Value)
		if first && !ownSource(name) && !s.May(on, "find") {
			return false
		}
		if first = false; !s.mayStage(on, name, arg) {
			return false
		}
	}
	return !first || s.May(on, "find")
}

// ownSource reports whether a first stage does not read the collection.
func ownSource(stage string) bool {
	switch stage {
	case "$collStats", "$indexStats", "$currentOp", "$shardedDataDistribution", "$listClusterCatalog", "$documents":
		return true
	}
	return false
}

func (s *Session) mayStage(on Resource, name string, arg bson.RawValue) bool {
	field := func(key string) bson.RawValue {
		if arg.Type != bson.TypeEmbeddedDocument {
			return bson.RawValue{}
		}
		return value.Field(arg.Value, key)
	}
	switch name {
	case "$collStats":
		return s.May(on, "collStats")
	case "$indexStats":
		return s.May(on, "indexStats")
	case "$currentOp":
		// The shards show operations of all users, so only the user's own operations on
		// mongos are visible without a privilege.
		return truthy(field("localOps")) && !truthy(field("allUsers")) || s.May(OnCluster(), "inprog")
	case "$listClusterCatalog": // of a database assumed
		return s.May(OnCluster(), "listClusterCatalog") || on.db != "admin" && s.May(OnDatabase(on.db), "listCollections")
	case "$shardedDataDistribution":
		return s.May(OnCluster(), "shardedDataDistribution")
	case "$lookup":
		return s.mayJoin(on, field("from"), field("pipeline"))
	case "$unionWith":
		if arg.Type == bson.TypeString {
			return s.mayJoin(on, arg, bson.RawValue{})
		}
		return s.mayJoin(on, field("coll"), field("pipeline"))
	}
	return true
}

// mayJoin checks the other collection of a $lookup or $unionWith and its pipeline.
func (s *Session) mayJoin(on Resource, from, stages bson.RawValue) bool {
	coll, _ := from.StringValueOK()
	other := OnNamespace(on.db, coll)
	if stages.Type != bson.TypeArray {
		return s.May(other, "find")
	}
	other.coll = cmp.Or(other.coll, "$cmd.aggregate")
	return s.mayPipeline(other, stages)
}
