package api

// Me is the current user and their rights.
type Me struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	Roles  []string `json:"roles"` // all roles that Role includes, lowest first
	Method string   `json:"method"`
	From   string   `json:"from"`
}

// Done is the answer to a change without other results.
type Done struct {
	Done bool `json:"done"`
}
