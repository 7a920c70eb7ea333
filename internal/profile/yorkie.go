package profile

// Yorkie is the built-in profile. Sources: docs/design/mongodb-sharding.md, the
// Docker set-up script and the chart's sharding rules of Yorkie's releases, as
// they were from 0.4.14 to 0.7.17.
func Yorkie() *Profile {
	return &Profile{
		Name: "yorkie",
		Names: ProjectFields{
			Collection: "projects", Name: "name", Owner: "owner", PublicKey: "public_key", CreatedAt: "created_at",
			Documents: "stats_documents_count", Clients: "stats_clients_count", CountedAt: "stats_updated_at",
		},
		Keys: DocumentFields{
			Collection: "documents", Project: projectField, Key: "key", RemovedAt: "removed_at", CreatedAt: "created_at",
			UpdatedAt: "updated_at", Seq: "server_seq",
		},
		Layouts: []Layout{
			{Name: "yorkie-head", Since: "0.6.41 –", Collections: yorkieHead()},
			{Name: "yorkie-0.6.38", Since: "0.6.38 – 0.6.40", Collections: yorkie0638()},
			{Name: "yorkie-0.6.20", Since: "0.6.20 – 0.6.37", Collections: yorkie0620()},
			{Name: "yorkie-0.5.7", Since: "0.5.7 – 0.6.19", Collections: yorkie057()},
			{Name: "yorkie-0.4", Since: "0.4.14 – 0.5.6", Collections: yorkie04()},
		},
	}
}

// Field names and shard keys that Yorkie's collections share.
const (
	projectField  = "project_id"
	documentField = "doc_id"

	keyProject  = "{project_id: 1}"
	keyClient   = `{project_id: 1, _id: "hashed"}`
	keyDocument = "{doc_id: 1}"
	keyHashed   = `{doc_id: "hashed"}`
)

// Deviations that releases are known to leave behind (catalogue codes).
const (
	variantChartClients  = "chartClients"  // the chart kept {project_id: 1} until 0.6.41
	variantChartSchemas  = "chartSchemas"  // the chart had no rule for schemas until 0.6.41
	variantLateVectors   = "lateVectors"   // 0.5.3 to 0.5.6 had no rule for versionvectors
	variantLateRevisions = "lateRevisions" // 0.6.39 had no rule for revisions
)

func byProject(name, key, kind string, variants ...Variant) Collection {
	c := Collection{
		Name:         name,
		Scope:        ScopeProject,
		ProjectField: projectField,
		KeyField:     "key",
		Kind:         kind,
		Expected:     key,
		What:         name,
		Variants:     variants,
	}
	c.WrittenAt = "updated_at"
	switch name {
	case "documents":
		c.DocumentField = "_id" // the row is the Yorkie document itself
		c.FoundBy = [][]string{{projectField, "key"}, {projectField, "_id"}}
		c.Dead = DeadMark{Field: "removed_at"}
	case "clients":
		c.FoundBy = [][]string{{projectField, "_id"}}
		c.Dead = DeadMark{Field: "status", Value: "deactivated"}
	}
	if name == "schemas" { // versions of a schema never change
		c.KeyField, c.WrittenAt, c.Appended = "name", "", true
	}
	return c
}

// byDocument is a collection with rows of Yorkie documents. Most rows are never updated: mongod
// creates the ids of changes when they are pushed, the Yorkie process those of snapshots, their
// bodies and revisions. versionvectors and syncedseqs have one row per client, updated in place and
// without a date.
func byDocument(name, key string, variants ...Variant) Collection {
	return Collection{
		Name:          name,
		Scope:         ScopeDocument,
		ProjectField:  projectField,
		DocumentField: documentField,
		Expected:      key,
		What:          name,
		Variants:      variants,
		Appended:      name != "versionvectors" && name != "syncedseqs",
	}
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
	bodies := byDocument("snapshot_bodies", "") // from 0.7.2
	// Documented as hashed by doc_id, but no release shards it, so every cluster has it unsharded.
	bodies.Documented = keyHashed
	revisions := byDocument("revisions", keyHashed, Variant{Code: variantLateRevisions})
	revisions.Kind = "revision"
	return append([]Collection{
		byProject("documents", keyProject, "document"),
		byProject("clients", keyClient, "client", Variant{Key: keyProject, Code: variantChartClients}),
		byProject("schemas", keyProject, "schema", Variant{Code: variantChartSchemas}),
		byDocument("changes", keyHashed),
		byDocument("snapshots", keyHashed),
		bodies,
		byDocument("versionvectors", keyHashed),
		revisions,
	}, clusterWide("projects", "users", "members", "invites", "clusternodes")...)
}

// yorkie0638 is the layout in the documents and the Docker script of 0.6.38; the chart followed in
// 0.6.41.
func yorkie0638() []Collection {
	return append([]Collection{
		byProject("documents", keyProject, "document"),
		byProject("clients", keyClient, "client", Variant{Key: keyProject, Code: variantChartClients}),
		byProject("schemas", keyProject, "schema", Variant{Code: variantChartSchemas}),
		byDocument("changes", keyHashed),
		byDocument("snapshots", keyHashed),
		byDocument("versionvectors", keyHashed),
	}, clusterWide("projects", "users", "clusternodes")...)
}

// yorkie0620 hashes collections by document and has schemas.
func yorkie0620() []Collection {
	return append([]Collection{
		byProject("documents", keyProject, "document"),
		byProject("clients", keyProject, "client"),
		byProject("schemas", keyProject, "schema", Variant{Code: variantChartSchemas}),
		byDocument("changes", keyHashed),
		byDocument("snapshots", keyHashed),
		byDocument("versionvectors", keyHashed),
	}, clusterWide("projects", "users", "leaderships")...)
}

// yorkie057 adds version vectors, ranged like the others.
func yorkie057() []Collection {
	return append([]Collection{
		byProject("documents", keyProject, "document"),
		byProject("clients", keyProject, "client"),
		byDocument("changes", keyDocument),
		byDocument("snapshots", keyDocument),
		byDocument("syncedseqs", keyDocument), // unused since 0.6.7, sharded until 0.6.10
		byDocument("versionvectors", keyDocument, Variant{Code: variantLateVectors}),
	}, clusterWide("projects", "users")...)
}

// yorkie04 is the all-ranged layout of the first release with sharding rules.
func yorkie04() []Collection {
	return append([]Collection{
		byProject("documents", keyProject, "document"),
		byProject("clients", keyProject, "client"),
		byDocument("changes", keyDocument),
		byDocument("snapshots", keyDocument),
		byDocument("syncedseqs", keyDocument),
	}, clusterWide("projects", "users")...)
}
