package access

import (
	"slices"

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
	roles, err := parseRoles(r)
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
	switch {
	case (given(r, "pwd") || given(r, "mechanisms")) && !own("changeOwnPassword") && !s.May(OnDatabase(r.DB), "changePassword"):
		return false
	case given(r, "customData") && !own("changeOwnCustomData") && !s.May(OnDatabase(r.DB), "changeCustomData"):
		return false
	case given(r, "roles") && !(s.May(anyNormal(), "revokeRole") && mayGrant(s, r)):
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
	return s.mayView(r, "user", "viewUser", s.is)
}

// mayViewRoles always allows users to see their own roles.
func mayViewRoles(s *Session, r *engine.Request) bool {
	v := r.Lookup(r.Name)
	if value.IsNumber(v) {
		return s.May(OnDatabase(r.DB), "viewRole")
	}
	return s.mayView(r, "role", "viewRole", s.has)
}

// mayView decides about the users or roles that a command names; own tells those of the session. Malformed ones fail
// later.
func (s *Session) mayView(r *engine.Request, what, action string, own func(Name) bool) bool {
	names, err := parseNames(r.Lookup(r.Name), what, r.DB)
	return err != nil || !slices.ContainsFunc(names, func(n Name) bool { return !own(n) && !s.May(OnDatabase(n.DB), action) })
}
