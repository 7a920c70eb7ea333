package doctor

import (
	"bytes"
	"encoding/json"
	"slices"

	"shardboard/internal/hostile"
	"shardboard/internal/topology"
)

// The roles of docs/roles.md, both on the admin database.
const (
	ViewerRole   = "shardboardViewer"
	OperatorRole = "shardboardOperator"
)

// Remedies are the commands for mongosh that grant what findings lack: what
// looking needs to the viewer's role, the rest to the operator's, which includes
// it. None when nothing is lacking. Names in them are quoted.
func Remedies(findings []Finding) (commands []string) {
	var look, change []Privilege
	for _, f := range findings {
		if !f.Change {
			look = append(look, f.Lacks...)
		}
	}
	for _, f := range findings {
		for _, p := range f.Lacks {
			if f.Change && !slices.Contains(look, p) {
				change = append(change, p)
			}
		}
	}
	for _, text := range []string{remedy(ViewerRole, look), remedy(OperatorRole, change)} {
		if text != "" {
			commands = append(commands, text)
		}
	}
	return commands
}

func remedy(role string, lacks []Privilege) string {
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
	if len(grants) == 0 {
		return ""
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
	return `db.getSiblingDB("admin").grantPrivilegesToRole(` + script(role) + ", " + script(list) + ")"
}

// script is a value as JavaScript on one line: JSON, with everything that is not
// seen as itself written as \u{…}, which JavaScript reads back.
func script(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // cannot happen: names and lists of names
	}
	return hostile.Line(string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
}
