package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
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
	Role         string        `default:"viewer" enum:"viewer,support,operator,admin" help:"viewer, support, operator or admin; not higher than your own role."`
	For          time.Duration `default:"720h" help:"Time that it is valid; at most a year."`
}

// Run prints only the secret to stdout, so that it can be redirected to a file.
func (c tokenCreateCmd) Run(e *env) error {
	return c.do(e, func(a app.Accounts) error {
		t, err := a.CreateToken(e.ctx, api.TokenCreate{Name: c.Name, Role: c.Role, Expires: time.Now().Add(c.For)})
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
		fmt.Fprintln(tab, "ID\tNAME\tROLE\tOWNER\tEXPIRES\tUSED\tREVOKED")
		for _, t := range tokens {
			fmt.Fprintf(
				tab,
				"%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				sanitize.Line(t.ID),
				sanitize.Line(t.Name),
				sanitize.Line(t.Role),
				sanitize.Line(t.Owner),
				t.Expires.UTC().Format(timeForm),
				timeText(t.Used, "never"),
				timeText(t.Revoked, "no"),
			)
		}
		return tab.Flush()
	})
}
