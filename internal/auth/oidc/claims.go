package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	coreos "github.com/coreos/go-oidc/v3/oidc"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// claims reads the person from a verified ID token and, if that lacks the groups or the name, from
// UserInfo. Where both have a claim, the ID token's counts.
func (i *Issuer) claims(
	ctx context.Context,
	p *coreos.Provider,
	id *coreos.IDToken,
	token map[string]any,
	access string,
	notGranted []string,
) (auth.Claims, error) {
	out := auth.Claims{Issuer: id.Issuer, Subject: id.Subject, GroupsClaim: i.o.GroupsClaim}
	out.Seen.IDToken = claimNames(token)
	sources := []map[string]any{token}
	groups, haveGroups := lookup(token, i.o.GroupsClaim)
	var failed error
	if p.UserInfoEndpoint() != "" && !(haveGroups && i.hasName(token)) {
		info, err := i.userInfo(ctx, p, access, id.Subject)
		var r *auth.Refusal
		if errors.As(err, &r) && r.Code == "userinfo-subject" {
			r.Claims = out.Seen
			return out, r
		}
		failed = err
		sources, out.Seen.UserInfo = append(sources, info), claimNames(info)
		if !haveGroups {
			groups, haveGroups = lookup(info, i.o.GroupsClaim)
		}
	}
	out.Name = i.nameOf(sources)
	refuse := func(err error) (auth.Claims, error) {
		var r *auth.Refusal
		if errors.As(err, &r) {
			r.Claims = out.Seen
		}
		return out, err
	}
	if !haveGroups {
		switch {
		case overage(token, i.o.GroupsClaim):
			return refuse(
				auth.Refuse(
					"groups-overage",
					fault.Forbidden,
					failed,
					"Your issuer left your groups out because there are too many. You cannot fix this yourself; tell the administrator of shardboard.",
					"The issuer sends a pointer in place of the groups of people who are in very many. Have it send only the groups that are "+
						"assigned to this client, or roles of the client (--oidc-groups-claim roles).",
				),
			)
		case failed != nil:
			return refuse(failed)
		}
		return refuse(i.groupsMissing(p, notGranted))
	}
	if failed != nil { // only the name was missing
		i.o.Log.Warn("read a person's name from the OIDC issuer's UserInfo", "err", failed)
	}
	read, err := readGroups(groups)
	if err != nil {
		return refuse(auth.Refuse(
			"groups-form",
			fault.Forbidden,
			nil,
			groupsText,
			fmt.Sprintf(
				"The claim %q %s. It has to be one text or a list of texts; --oidc-groups-claim can name one inside it by path, like "+
					"realm_access.roles.",
				i.o.GroupsClaim,
				err,
			),
		))
	}
	if len(read.groups) > maxGroups {
		return refuse(auth.Refuse(
			"groups-too-many",
			fault.Forbidden,
			nil,
			groupsText,
			fmt.Sprintf(
				"The claim %q lists %d groups; %d are the most. Have the issuer send only those that matter to this client.",
				i.o.GroupsClaim,
				len(read.groups),
				maxGroups,
			),
		))
	}
	if read.ignored > 0 {
		i.o.Log.Debug(
			"ignored entries of the groups claim that are not strings, empty or too long",
			"claim",
			i.o.GroupsClaim,
			"ignored",
			read.ignored,
		)
	}
	out.Groups, out.OneText = read.groups, read.oneText
	return out, nil
}

const groupsText = "You are signed in at the issuer, but shardboard cannot tell which groups you are in. " +
	"Ask the administrator of shardboard."

func (i *Issuer) groupsMissing(p *coreos.Provider, notGranted []string) error {
	came := fmt.Sprintf("The claim %q came neither in the ID token nor from UserInfo.", i.o.GroupsClaim)
	if p.UserInfoEndpoint() == "" {
		came = fmt.Sprintf("The claim %q is not in the ID token, and the issuer has no UserInfo to ask.", i.o.GroupsClaim)
	}
	advice := came + " Have the issuer send it (many need a scope for it: --oidc-scopes), or name the claim that has the groups: " +
		"--oidc-groups-claim. " +
		"Some issuers leave it out for people who are in no group: then put this person into one."
	if len(notGranted) > 0 {
		advice += " The issuer did not grant these scopes: " + strings.Join(notGranted, " ") + "."
	}
	return auth.Refuse("groups-missing", fault.Forbidden, nil, groupsText, advice)
}

// hasName reports whether the claim with the name is there.
func (i *Issuer) hasName(claims map[string]any) bool {
	_, ok := nameIn(claims, i.o.NameClaim)
	return ok
}

// nameOf is the name to display, which grants nothing: the configured claim, else one that most
// issuers have, else "".
func (i *Issuer) nameOf(sources []map[string]any) string {
	for _, claim := range []string{i.o.NameClaim, "preferred_username", "email", "name"} {
		for _, claims := range sources {
			if name, ok := nameIn(claims, claim); ok {
				return name
			}
		}
	}
	return ""
}

// nameIn returns a claim as a displayable name. An unverified email address is not used, because it
// could be anybody's.
func nameIn(claims map[string]any, claim string) (string, bool) {
	v, _ := lookup(claims, claim)
	s, _ := v.(string)
	s = strings.TrimSpace(s)
	if claim == "email" {
		if verified := claims["email_verified"]; verified == false || verified == "false" {
			return "", false
		}
	}
	return s, auth.PlainName(s)
}
