package profile

// Yorkie is the built-in profile. Sources: Yorkie 0.7.17's sharding rules and
// the rules of its earlier releases.
func Yorkie() *Profile {
	return &Profile{
		Name:     "yorkie",
		Projects: "projects",
		Layouts: []Layout{
			{Name: "yorkie-head", Collections: yorkieHead()},
			{Name: "yorkie-0.4", Collections: yorkie04()},
		},
	}
}

// Field names that Yorkie's collections share.
const (
	projectField  = "project_id"
	documentField = "doc_id"
)

func byProject(name, key, what string) Collection {
	return Collection{Name: name, Scope: ScopeProject, ProjectField: projectField, DocumentField: docFieldOf(name), Expected: key, What: what}
}

// docFieldOf: in documents the row itself is the Yorkie document.
func docFieldOf(name string) string {
	if name == "documents" {
		return "_id"
	}
	return ""
}

func byDocument(name, key, what string) Collection {
	return Collection{Name: name, Scope: ScopeDocument, ProjectField: projectField, DocumentField: documentField, Expected: key, What: what}
}

func clusterWide(names ...string) []Collection {
	out := make([]Collection, len(names))
	for i, n := range names {
		out[i] = Collection{Name: n, Scope: ScopeCluster, What: n}
		if n == "projects" {
			out[i].ProjectField = "_id"
		}
	}
	return out
}

// yorkieHead is the layout of Yorkie 0.6.41 and later.
func yorkieHead() []Collection {
	const hashed = `{doc_id: "hashed"}`
	return append([]Collection{
		byProject("documents", "{project_id: 1}", "documents"),
		byProject("clients", `{project_id: 1, _id: "hashed"}`, "clients"),
		byProject("schemas", "{project_id: 1}", "schemas"),
		byDocument("changes", hashed, "changes"),
		byDocument("snapshots", hashed, "snapshots"),
		// Documented as hashed by doc_id, but no release shards it: expected
		// unsharded is what every cluster has.
		byDocument("snapshot_bodies", "", "snapshot_bodies"),
		byDocument("versionvectors", hashed, "versionvectors"),
		byDocument("revisions", hashed, "revisions"),
	}, clusterWide("projects", "users", "members", "invites", "clusternodes")...)
}

// yorkie04 is the all-ranged layout of Yorkie 0.4.14 to 0.5.6.
func yorkie04() []Collection {
	const ranged = "{doc_id: 1}"
	return append([]Collection{
		byProject("documents", "{project_id: 1}", "documents"),
		byProject("clients", "{project_id: 1}", "clients"),
		byDocument("changes", ranged, "changes"),
		byDocument("snapshots", ranged, "snapshots"),
		byDocument("syncedseqs", ranged, "syncedseqs"),
	}, clusterWide("projects", "users", "clusternodes")...)
}
