package account

import (
	"net/http"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// ChangeUserJSON changes what is given, in this order: role, password, disabled. A
// change that fails ends it; those before it have happened.
func ChangeUserJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	name, err := site.PathText(r, "name")
	if err != nil {
		return err
	}
	var in api.UserChange
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	if in.Role == nil && in.Password == nil && in.Disabled == nil {
		return fault.New(fault.Invalid, "Give at least one of role, password and disabled.")
	}
	ctx, by, accounts := r.Context(), auth.From(r.Context()), s.Deps.Access.Auth
	if in.Role != nil {
		err = accounts.SetRole(ctx, by, name, auth.Role(*in.Role))
	}
	if err == nil && in.Password != nil {
		err = accounts.SetPassword(ctx, by, name, *in.Password)
	}
	if err == nil && in.Disabled != nil {
		set := accounts.EnableUser
		if *in.Disabled {
			set = accounts.DisableUser
		}
		err = set(ctx, by, name)
	}
	if err != nil {
		return err
	}
	out, err := auditing.UserNamed(ctx, accounts, by, name)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}
