package profile

// ProjectFields names the collection that lists the projects (tenants) and the
// fields that are read of it, by dotted path. An empty name is a field
// that this data does not have. Nothing but these fields and _id is ever read,
// so that secrets beside them never reach this process.
type ProjectFields struct {
	Collection string // "" = nothing lists the projects: they are the values in the documents
	ID         string // field with the id that the documents have; "" = _id
	Name       string // what people call the project; "" = its id
	PublicKey  string // another exact name, such as a public API key
	Owner      string // id of a user
	CreatedAt  string
	Documents  string // cached counts, and when they were taken
	Clients    string
	CountedAt  string
}

// IDField is the field with the id that the documents have.
func (f ProjectFields) IDField() string {
	if f.ID == "" {
		return "_id"
	}
	return f.ID
}

// DocumentFields names the collection whose rows are the documents and the
// fields that are read of it, as ProjectFields does.
type DocumentFields struct {
	Collection string
	Project    string // id of the project that the row belongs to
	Key        string // what people call the document within its project; KeyOfRow if it has no other name than its _id
	AnyType    bool   // keys can be numbers, ids and the like too, not only text
	RemovedAt  string // there when the row is removed
	CreatedAt  string
	UpdatedAt  string
	Seq        string // number that grows with each edit
}

// KeyOfRow is the Key of documents that are known by their _id alone.
const KeyOfRow = "_id"

// RowFields names the fields that are read of any stored row when asking where
// an id lives, as ProjectFields does.
type RowFields struct {
	Collection string
	Project    string
	Document   string
	Key        string
}

// DeadMark says by which field rows are known that nothing uses any more. The
// zero value knows none.
type DeadMark struct {
	Field string
	Value string // what the field holds; "" = anything at all, as a date of removal does
}
