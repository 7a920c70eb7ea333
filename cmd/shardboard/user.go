package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

type userCmd struct {
	Add        userAddCmd        `cmd:"" help:"Add a user; asks for the password."`
	Passwd     userPasswdCmd     `cmd:"" help:"Set the password of a user; ends their sessions."`
	Role       userRoleCmd       `cmd:"" help:"Change the role of a user; it applies from their next request on."`
	Disable    userDisableCmd    `cmd:"" help:"Disable a user; ends their sessions, and their tokens stop working until they are enabled again."`
	Enable     userEnableCmd     `cmd:"" help:"Enable a disabled user."`
	List       userListCmd       `cmd:"" help:"List users."`
	BreakGlass userBreakGlassCmd `cmd:"" name:"break-glass" help:"Create the break-glass account for emergencies in which no other sign-in works, or set its password. Needs --data-dir or --store-file."`
}

// accountFlags select whose accounts a command changes.
type accountFlags struct {
	remoteFlags `embed:""`
	DataDir     string `name:"data-dir" type:"path" placeholder:"DIR" help:"Change this data directory directly instead of through a server. No server may be running on it."`
	StoreFile   string `name:"store-file" type:"path" placeholder:"FILE" help:"Change the store on MongoDB whose address this file holds, instead of through a server. Servers may be running on it."`

	leaked string // file of leaked passwords, if one is set
}

func (f accountFlags) open(e *env) (app.Accounts, error) {
	if f.DataDir != "" || f.StoreFile != "" {
		at, err := accountPlace(f.DataDir, f.StoreFile)
		if err != nil {
			return nil, err
		}
		return app.OpenAccounts(e.ctx, at, f.leaked, e.log)
	}
	remote, err := f.remote()
	if err != nil {
		return nil, err
	}
	return remote.Accounts(), nil
}

// accountPlace is a data directory, or the store whose address a file holds.
func accountPlace(dir, file string) (app.StorePlace, error) {
	if (dir == "") == (file == "") {
		return app.StorePlace{}, fault.New(fault.Invalid, "Give either --data-dir or --store-file.")
	}
	at, err := app.ReadStore("", file)
	return app.StorePlace{Dir: dir, Address: at}, err
}

// do runs f on the accounts.
func (f accountFlags) do(e *env, run func(app.Accounts) error) error {
	accounts, err := f.open(e)
	if err != nil {
		return err
	}
	if err := run(accounts); err != nil {
		_ = accounts.Close() // the first error is returned
		return err
	}
	return accounts.Close()
}

type userAddCmd struct {
	accountFlags  `embed:""`
	passwordFlags `embed:""`
	Name          string `arg:"" help:"Letters a to z, digits and . _ @ + -."`
	Role          string `default:"viewer" enum:"viewer,support,operator,admin" help:"viewer, support (and locate documents), operator (and change the cluster) or admin (and change users)."`
}

func (c userAddCmd) Run(e *env) error {
	password, err := c.password(e)
	if err != nil {
		return err
	}
	c.leaked = c.Leaked
	return c.do(e, func(a app.Accounts) error {
		u, err := a.CreateUser(e.ctx, api.UserCreate{Name: c.Name, Password: password, Role: c.Role})
		if err == nil {
			fmt.Fprintf(e.stdout, "%s is added as %s.\n", sanitize.Line(u.Name), sanitize.Line(u.Role))
		}
		return err
	})
}

type userPasswdCmd struct {
	accountFlags  `embed:""`
	passwordFlags `embed:""`
	Name          string `arg:"" help:"Name of the user."`
}

func (c userPasswdCmd) Run(e *env) error {
	password, err := c.password(e)
	if err != nil {
		return err
	}
	c.leaked = c.Leaked
	return c.change(e, c.Name, api.UserChange{Password: &password}, "has a new password")
}

type userRoleCmd struct {
	accountFlags `embed:""`
	Name         string `arg:"" help:"Name of the user."`
	Role         string `arg:"" enum:"viewer,support,operator,admin" help:"viewer, support, operator or admin."`
}

func (c userRoleCmd) Run(e *env) error {
	return c.change(e, c.Name, api.UserChange{Role: &c.Role}, "is "+c.Role)
}

type userDisableCmd struct {
	accountFlags `embed:""`
	Name         string `arg:"" help:"Name of the user."`
}

func (c userDisableCmd) Run(e *env) error {
	yes := true
	return c.change(e, c.Name, api.UserChange{Disabled: &yes}, "is disabled")
}

type userEnableCmd struct {
	accountFlags `embed:""`
	Name         string `arg:"" help:"Name of the user."`
}

func (c userEnableCmd) Run(e *env) error {
	no := false
	return c.change(e, c.Name, api.UserChange{Disabled: &no}, "can sign in again")
}

func (f accountFlags) change(e *env, name string, c api.UserChange, said string) error {
	return f.do(e, func(a app.Accounts) error {
		err := a.ChangeUser(e.ctx, name, c)
		if err == nil {
			fmt.Fprintf(e.stdout, "%s %s.\n", sanitize.Line(name), said)
		}
		return err
	})
}

type userListCmd struct {
	accountFlags `embed:""`
}

func (c userListCmd) Run(e *env) error {
	return c.do(e, func(a app.Accounts) error {
		users, err := a.Users(e.ctx)
		if err != nil {
			return err
		}
		tab := tabwriter.NewWriter(e.stdout, 2, 4, 2, ' ', 0)
		fmt.Fprintln(tab, "NAME\tROLE\tSTATE\tLAST SIGN-IN")
		for _, u := range users {
			state := "enabled"
			if u.Disabled {
				state = "disabled"
			}
			if u.BreakGlass {
				state += ", break-glass"
			}
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", sanitize.Line(u.Name), sanitize.Line(u.Role), state, timeText(u.LastLogin, "never"))
		}
		return tab.Flush()
	})
}

func timeText(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return t.UTC().Format(timeForm)
}

type userBreakGlassCmd struct {
	passwordFlags `embed:""`
	DataDir       string `name:"data-dir" type:"path" placeholder:"DIR" help:"Data directory; no server may be running on it."`
	StoreFile     string `name:"store-file" type:"path" placeholder:"FILE" help:"File with the address of the store on MongoDB; servers may be running on it."`
	Name          string `help:"Name of the account; default: break-glass, or the one that it has."`
}

func (c userBreakGlassCmd) Run(e *env) error {
	password, err := c.password(e)
	if err != nil {
		return err
	}
	at, err := accountPlace(c.DataDir, c.StoreFile)
	if err != nil {
		return err
	}
	a, err := app.OpenAccounts(e.ctx, at, c.Leaked, e.log)
	if err != nil {
		return err
	}
	made, err := a.BreakGlass(e.ctx, c.Name, password)
	if err == nil {
		err = a.Close()
	} else {
		_ = a.Close() // the first error is returned
	}
	if err != nil {
		return err
	}
	said := "The break-glass account has a new password."
	if made {
		said = "The break-glass account is created. Keep the password sealed; each use is logged as an error and audited."
	}
	_, err = fmt.Fprintln(e.stdout, said)
	return fault.Wrap(fault.Internal, err, "The answer cannot be written.")
}
