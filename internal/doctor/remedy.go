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

// Remedies are the commands for mongosh that grant what findings lack: what
// looking needs to the viewer's role, the rest to the operator's, which includes
// it and counts only where the cluster is to be changed. A user without the role
// is given it, for then the role may well have all; an examination after that
// tells what the role itself lacks. None when nothing is lacking. Names in them
// are quoted.
func Remedies(r Report, actions bool) (commands []string) {
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
		look = nil // comes with the operator's
	}
	if len(look) > 0 {
		commands = append(commands, r.remedy(ViewerRole, look))
	}
	if len(change) > 0 {
		commands = append(commands, r.remedy(OperatorRole, change))
	}
	return commands
}

// holds tells whether the user has a role, or nothing is known of either.
func (r Report) holds(role string) bool {
	return len(r.Users) == 0 || slices.Contains(r.Roles, role+"@admin")
}

// remedy gives the user the role, or the role what it lacks.
func (r Report) remedy(role string, lacks []Privilege) string {
	if r.holds(role) {
		return grantPrivileges(role, lacks)
	}
	user := r.Users[0]
	at := strings.LastIndexByte(user, '@') // names may have one, databases not
	return "db.getSiblingDB(" + sanitize.Script(user[at+1:]) + ").grantRolesToUser(" + sanitize.Script(user[:at]) + ", " +
		sanitize.Script([]grantedRole{{role, "admin"}}) + ")"
}

// grantedRole is a role as user commands name it.
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
