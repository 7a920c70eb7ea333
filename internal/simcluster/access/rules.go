package access

import (
	"maps"
	"strings"

	"shardboard/internal/simcluster/engine"
)

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
		"currentOp": onAdmin(cluster("inprog")), "getParameter": onAdmin(cluster("getParameter")),
		"getCmdLineOpts": onAdmin(cluster("getCmdLineOpts")), "getLog": onAdmin(cluster("getLog")),
		"commitTransaction": onAdmin(rule{}), "abortTransaction": onAdmin(rule{}),

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

func onAdmin(u rule) rule { u.admin = true; return u }

// cluster requires actions on the cluster.
func cluster(actions ...string) rule {
	return rule{allows: func(s *Session, _ *engine.Request) bool { return s.May(OnCluster(), actions...) }}
}

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
