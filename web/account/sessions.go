package account

import (
	"context"
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
)

// EndSession signs a browser out.
func EndSession(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return endByForm(w, r, "session", s.Deps.Auth.Revoke)
}

// EndSessionJSON is EndSession for scripts.
func EndSessionJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return endByJSON(w, r, s.Deps.Auth.Revoke)
}

// endFunc ends a session or a token.
type endFunc = func(ctx context.Context, by auth.Principal, id string) error

// endByForm leads back to the page that the button is on.
func endByForm(w http.ResponseWriter, r *http.Request, what string, end endFunc) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	if err := end(r.Context(), auth.From(r.Context()), id); err != nil {
		return err
	}
	to := "/settings"
	if r.PostForm.Get("back") == "users" {
		to = "/settings/users"
	}
	site.SeeOther(w, to+"?done="+what)
	return nil
}

func endByJSON(w http.ResponseWriter, r *http.Request, end endFunc) error {
	id, err := site.PathText(r, "id")
	if err != nil {
		return err
	}
	if err := end(r.Context(), auth.From(r.Context()), id); err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, api.Done{Done: true})
}
