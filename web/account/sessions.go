package account

import (
	"context"
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// revoke ends a session or a token; its form leads back to the page that the button is on.
func revoke(what, summary string, params []site.Param, end func(guard.Authenticator, context.Context, auth.Principal, string) error,
) site.Change[struct{}, api.Done] {
	return site.Change[struct{}, api.Done]{
		Route: site.Route{Pattern: "/" + what + "s/{id}/revoke", Summary: summary, Policy: guard.PolicySelf, Params: params},
		Form:  "/settings/" + what + "s/{id}/revoke",
		Do: func(s *site.Site, r *http.Request, _ struct{}) (api.Done, error) {
			id, err := site.PathText(r, "id")
			if err == nil {
				err = end(s.Deps.Access.Auth, r.Context(), auth.From(r.Context()), id)
			}
			return api.Done{Done: err == nil}, err
		},
		Leads: func(r *http.Request, _ api.Done) string {
			if r.PostForm.Get("back") == "users" {
				return "/settings/users?done=" + what
			}
			return "/settings?done=" + what
		},
	}
}
