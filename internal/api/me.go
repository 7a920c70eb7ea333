package api

// Me is who is asking, and what they may.
type Me struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	Roles  []string `json:"roles"` // all roles that Role includes, least first
	Method string   `json:"method"`
	From   string   `json:"from"`
}

// Done is the answer to a change that has nothing else to tell.
type Done struct {
	Done bool `json:"done"`
}
