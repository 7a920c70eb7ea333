package doctor

import (
	"slices"
	"strings"

	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// The roles of docs/roles.md, both on the admin database.
const (
	ViewerRole   = "shardboardViewer"
	OperatorRole = "shardboardOperator"
)

// Remedies returns the mongosh commands that grant the missing privileges: those for reading to the
// viewer's role, the others to the operator's role, which includes it and is used only if the
// cluster is to be changed. A user without the role is granted the role, which may already have
// everything; a second examination then shows what the role lacks. Empty when nothing is missing.
// Names are quoted. Users and roles of MongoDB Atlas are not made by commands, so there are none.
func Remedies(r Report, actions bool) (commands []string) {
	if r.Product == topology.Atlas {
		return nil
	}
	var look, change []Privilege
	for _, f := range r.Findings {
		if !f.Change {
			look = append(look, f.Lacks...)
		}
	}
	for _, f := range r.Findings {
		for _, p := range f.Lacks {
			if f.Change && actions && !slices.Contains(look, p) {
				change = append(change, p)
			}
		}
	}
	if len(change) > 0 && !r.holds(OperatorRole) && !r.holds(ViewerRole) {
		look = nil // included in the operator's role
	}
	if len(look) > 0 {
		commands = append(commands, r.remedy(ViewerRole, look))
	}
	if len(change) > 0 {
		commands = append(commands, r.remedy(OperatorRole, change))
	}
	return commands
}

// holds reports whether the user has a role; true if users or roles are unknown.
func (r Report) holds(role string) bool {
	return len(r.Users) == 0 || slices.Contains(r.Roles, role+"@admin")
}

// remedy grants the user the role, or the role its missing privileges.
func (r Report) remedy(role string, lacks []Privilege) string {
	if r.holds(role) {
		return grantPrivileges(role, lacks)
	}
	user := r.Users[0]
	at := strings.LastIndexByte(user, '@') // user names may contain @, databases not
	return "db.getSiblingDB(" + sanitize.Script(user[at+1:]) + ").grantRolesToUser(" + sanitize.Script(user[:at]) + ", " +
		sanitize.Script([]grantedRole{{role, "admin"}}) + ")"
}

// grantedRole is a role in user commands.
type grantedRole struct {
	Role string `json:"role"`
	DB   string `json:"db"`
}

func grantPrivileges(role string, lacks []Privilege) string {
	var grants []topology.Grant
	for _, p := range lacks {
		i := slices.IndexFunc(grants, func(g topology.Grant) bool { return g.On == p.On })
		if i < 0 {
			i, grants = len(grants), append(grants, topology.Grant{On: p.On})
		}
		if !slices.Contains(grants[i].Actions, p.Action) {
			grants[i].Actions = append(grants[i].Actions, p.Action)
		}
	}
	type resource struct {
		Cluster    bool    `json:"cluster,omitempty"`
		DB         *string `json:"db,omitempty"`
		Collection *string `json:"collection,omitempty"`
	}
	type privilege struct {
		Resource resource `json:"resource"`
		Actions  []string `json:"actions"`
	}
	list := make([]privilege, len(grants))
	for i, g := range grants {
		list[i] = privilege{Resource: resource{Cluster: true}, Actions: g.Actions}
		if !g.On.Cluster {
			list[i].Resource = resource{DB: &g.On.DB, Collection: &g.On.Collection}
		}
	}
	return `db.getSiblingDB("admin").grantPrivilegesToRole(` + sanitize.Script(role) + ", " + sanitize.Script(list) + ")"
}
