package access

func (p Privileges) read(db string) {
	p.words(OnDatabase(db), reads)
	p.words(OnNamespace(db, "system.js"), reads)
}

func (p Privileges) readWrite(db string) {
	p.read(db)
	p.words(OnDatabase(db), writes)
	p.words(OnNamespace(db, "system.js"), writes)
}

func (p Privileges) dbAdmin(db string) {
	p.words(OnDatabase(db), administersData)
	p.words(bucketsOf(db), administersData)
	p.words(OnNamespace(db, "system.profile"), profiles)
}

func (p Privileges) readAny() {
	p.words(anyNormal(), reads)
	p.words(anyNamed("system.js"), reads)
	p.add(OnCluster(), "listDatabases")
}

func (p Privileges) readWriteAny() {
	p.readAny()
	p.words(anyNormal(), writes)
	p.words(anyNamed("system.js"), writes)
}

func (p Privileges) userAdminAny() {
	p.words(anyNormal(), administersUsers)
	p.words(OnDatabase("local"), administersUsers)
	p.words(OnDatabase("config"), administersUsers)
	p.add(OnCluster(), "listDatabases", "authSchemaUpgrade", "invalidateUserCache", "viewUser")
	p.add(anyNormal(), "listCachedAndActiveUsers")
	p.words(anyNamed("system.users"), reads)
	for _, coll := range []string{"system.users", "system.roles"} {
		p.words(OnNamespace("admin", coll), reads+" createIndex dropIndex")
	}
	p.words(OnNamespace("admin", "system.version"), reads)
	p.words(OnNamespace("admin", "system.backup_users"), reads)
}

func (p Privileges) dbAdminAny() {
	p.add(OnCluster(), "listDatabases")
	p.words(anyNormal(), administersData)
	p.words(anyBuckets(), administersData)
	p.words(anyNamed("system.profile"), profiles)
}
