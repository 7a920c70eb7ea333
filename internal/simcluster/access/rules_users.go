package access

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// userRules has the rules of commands on users and roles
// (user_management_commands_common.cpp, MongoDB 5.0).
func userRules() map[string]rule {
	return map[string]rule{
		"createUser": {allows: func(s *Session, r *engine.Request) bool {
			return s.May(OnDatabase(r.DB), "createUser") && mayGrant(s, r)
		}},
		"updateUser":       {allows: mayUpdateUser},
		"dropUser":         database("dropUser"),
		"grantRolesToUser": {allows: mayGrant},
		"usersInfo":        {allows: mayViewUsers},

		"createRole": {allows: func(s *Session, r *engine.Request) bool {
			return s.May(OnDatabase(r.DB), "createRole") && mayGrant(s, r)
		}},
		"updateRole": {allows: func(s *Session, r *engine.Request) bool {
			return s.May(anyNormal(), "revokeRole") && mayGrant(s, r)
		}},
		"grantPrivilegesToRole": {allows: mayGrant},
		"rolesInfo":             {allows: mayViewRoles},
	}
}

// mayGrant checks the roles and privileges that a command grants: the user
// needs the action on the database of each. Malformed arguments fail later.
func mayGrant(s *Session, r *engine.Request) bool {
	roles, err := parseRoles(r, "roles")
	if err != nil {
		return true
	}
	for _, n := range roles {
		if !s.May(OnDatabase(n.DB), "grantRole") {
			return false
		}
	}
	privileges, err := parsePrivileges(r.Lookup("privileges"))
	if err != nil {
		return true
	}
	for on := range privileges {
		db := on.db
		if on.kind != kindDatabase && on.kind != kindNamespace {
			db = "admin"
		}
		if !s.May(OnDatabase(db), "grantRole") {
			return false
		}
	}
	return true
}

func mayUpdateUser(s *Session, r *engine.Request) bool {
	name, _ := r.Lookup(r.Name).StringValueOK()
	user := Name{name, r.DB}
	own := func(action string) bool { return s.is(user) && s.May(OnDatabase(r.DB), action) }
	has := func(key string) bool { return r.Lookup(key).Type != 0 }
	switch {
	case (has("pwd") || has("mechanisms")) && !own("changeOwnPassword") && !s.May(OnDatabase(r.DB), "changePassword"):
		return false
	case has("customData") && !own("changeOwnCustomData") && !s.May(OnDatabase(r.DB), "changeCustomData"):
		return false
	case has("roles") && !(s.May(anyNormal(), "revokeRole") && mayGrant(s, r)):
		return false
	}
	return true
}

// mayViewUsers always allows users to see themselves.
func mayViewUsers(s *Session, r *engine.Request) bool {
	v := r.Lookup(r.Name)
	if v.Type == bson.TypeEmbeddedDocument && truthy(value.Field(v.Value, "forAllDBs")) {
		return s.May(OnCluster(), "viewUser")
	}
	if value.IsNumber(v) {
		return s.May(OnDatabase(r.DB), "viewUser")
	}
	names, err := parseNames(v, "user", r.DB)
	if err != nil {
		return true
	}
	for _, n := range names {
		if !s.is(n) && !s.May(OnDatabase(n.DB), "viewUser") {
			return false
		}
	}
	return true
}

// mayViewRoles always allows users to see their own roles.
func mayViewRoles(s *Session, r *engine.Request) bool {
	v := r.Lookup(r.Name)
	if value.IsNumber(v) {
		return s.May(OnDatabase(r.DB), "viewRole")
	}
	names, err := parseNames(v, "role", r.DB)
	if err != nil {
		return true
	}
	for _, n := range names {
		if !s.has(n) && !s.May(OnDatabase(n.DB), "viewRole") {
			return false
		}
	}
	return true
}
