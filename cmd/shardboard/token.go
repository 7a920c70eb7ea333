package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token; its secret is printed once."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token; it cannot be restored."`
	List   tokenListCmd   `cmd:"" help:"List your tokens; an admin sees everybody's."`
}

type tokenCreateCmd struct {
	accountFlags `embed:""`
	Name         string        `arg:"" help:"Name of the token, such as the script that uses it."`
	Role         string        `enum:",viewer,support,operator,admin" default:"" help:"viewer, support, operator or admin; not higher than your own role. Default viewer, and none with --on."`
	On           []string      `placeholder:"CLUSTER=ROLE" help:"Bind the token to this cluster of a server of several, with this role there; it may do nothing elsewhere. Can be repeated."`
	For          time.Duration `default:"720h" help:"Time that it is valid; at most a year."`
}

// Run prints only the secret to stdout, so that it can be redirected to a file.
func (c tokenCreateCmd) Run(e *env) error {
	return c.do(e, func(a app.Accounts) error {
		body := api.TokenCreate{Name: c.Name, Role: c.Role, Expires: time.Now().Add(c.For)}
		for _, on := range c.On {
			name, role, ok := strings.Cut(on, "=")
			if _, twice := body.Clusters[name]; !ok || name == "" || role == "" || twice {
				return fault.New(fault.Invalid, "--on %s is not CLUSTER=ROLE of one more cluster, such as --on prod=viewer.", sanitize.Line(on))
			}
			if body.Clusters == nil {
				body.Clusters = map[string]string{}
			}
			body.Clusters[name] = role
		}
		if body.Clusters == nil {
			body.Role = cmp.Or(body.Role, "viewer")
		}
		t, err := a.CreateToken(e.ctx, body)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "Token %s lasts until %s. Its secret is not shown again.\n", sanitize.Line(t.ID), t.Expires.UTC().Format(timeForm))
		_, err = fmt.Fprintln(e.stdout, sanitize.Line(t.Secret))
		return err
	})
}

type tokenRevokeCmd struct {
	accountFlags `embed:""`
	ID           string `arg:"" help:"Id of the token, from token list."`
}

func (c tokenRevokeCmd) Run(e *env) error {
	return c.do(e, func(a app.Accounts) error {
		err := a.RevokeToken(e.ctx, c.ID)
		if err == nil {
			fmt.Fprintln(e.stdout, "The token is revoked.")
		}
		return err
	})
}

type tokenListCmd struct {
	accountFlags `embed:""`
}

func (c tokenListCmd) Run(e *env) error {
	return c.do(e, func(a app.Accounts) error {
		tokens, err := a.Tokens(e.ctx)
		if err != nil {
			return err
		}
		tab := tabwriter.NewWriter(e.stdout, 2, 4, 2, ' ', 0)
		fmt.Fprintln(tab, "ID\tNAME\tROLE\tCLUSTERS\tOWNER\tEXPIRES\tUSED\tREVOKED")
		for _, t := range tokens {
			fmt.Fprintf(
				tab,
				"%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				sanitize.Line(t.ID),
				sanitize.Line(t.Name),
				sanitize.Line(t.Role),
				sanitize.Line(tokenClusters(t)),
				sanitize.Line(t.Owner),
				t.Expires.UTC().Format(timeForm),
				timeText(t.Used, "never"),
				timeText(t.Revoked, "no"),
			)
		}
		return tab.Flush()
	})
}

// tokenClusters are the clusters that a token is bound to, with its role there now, and behind it the one
// that it was made with where that differs.
func tokenClusters(t api.Token) string {
	if !t.Bound {
		return "all"
	}
	parts := make([]string, len(t.Clusters))
	for i, c := range t.Clusters {
		parts[i] = c.Name + "=" + c.Role
		if c.Role != c.Given {
			parts[i] += " (given " + c.Given + ")"
		}
	}
	return strings.Join(parts, ", ")
}
