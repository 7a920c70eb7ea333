package account

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// boundField begins the fields of the form that bind a token: the cluster's name follows.
const boundField = "on."

// tokenChoice is a cluster that a token can be bound to, and the greatest role that it can have there.
type tokenChoice struct {
	Name, Title string
	Greatest    auth.Role
}

func tokenChoices(s *site.Site, who auth.Principal) (out []tokenChoice) {
	for _, c := range s.Visible(who) {
		if role, _ := c.Role(who); role.Known() {
			out = append(out, tokenChoice{c.Name, c.Title, role})
		}
	}
	return out
}

// CreateToken answers with the token's secret, once. It does not redirect to the page,
// because an address must never hold a secret.
func CreateToken(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 1 || days > 365 {
		return fault.New(fault.Invalid, "A token lasts 1 to 365 days.")
	}
	n := auth.NewToken{Name: r.PostForm.Get("name"), Role: auth.Role(r.PostForm.Get("role")),
		Expires: s.Deps.Now().Add(time.Duration(days) * 24 * time.Hour)}
	for field, values := range r.PostForm {
		if cluster, ok := strings.CutPrefix(field, boundField); ok && values[0] != "" {
			if n.Clusters == nil {
				n.Role, n.Clusters = "", map[string]auth.Role{} // the form always has a role too
			}
			n.Clusters[cluster] = auth.Role(values[0])
		}
	}
	made, err := createToken(s, r, n)
	if err != nil {
		return settingsProblem(s, w, r, err)
	}
	return writeSettings(s, w, r, http.StatusOK, outcome{Made: &made})
}

// CreateTokenJSON is CreateToken for scripts.
func CreateTokenJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.TokenCreate
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	made, err := createToken(s, r, auditing.NewToken(in))
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, made)
}

func createToken(s *site.Site, r *http.Request, t auth.NewToken) (api.TokenCreated, error) {
	secret, made, err := s.Deps.Access.Auth.CreateToken(r.Context(), auth.From(r.Context()), t)
	if err != nil {
		return api.TokenCreated{}, err
	}
	return api.TokenCreated{Token: auditing.Token(made), Secret: secret}, nil
}
