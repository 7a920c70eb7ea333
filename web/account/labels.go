package account

import (
	"cmp"
	"net/http"
	"strings"

	"shardboard/internal/auth"
)

// doneWords are those of ?done=; an address cannot put words of its own there.
func doneWords(r *http.Request) string { return doneTexts[r.URL.Query().Get("done")] }

// doneTexts say what a form did.
var doneTexts = map[string]string{
	"password": "The password is changed. Your other sessions have ended.",
	"session":  "The session has ended.",
	"token":    "The token is revoked.",
	"user":     "The user is added.",
	"change":   "It is changed. The user's sessions have ended.",
}

// methodWord is how somebody was known.
func methodWord(m auth.Method) string {
	return cmp.Or(methodLabels[string(m)], "another way ("+string(m)+")")
}

// methodLabels are the ways in which a session began.
var methodLabels = map[string]string{
	"password":    "password",
	"oidc":        "single sign-on",
	"proxy":       "proxy",
	"token":       "token",
	"break-glass": "emergency account",
	"demo":        "demo",
	"none":        "nothing: sign-in is off",
}

// waysWords is how people come in here.
func waysWords(mode auth.Mode) string {
	var out []string
	for _, way := range []auth.Mode{auth.ModeLocal, auth.ModeOIDC, auth.ModeProxy, auth.ModeNone, auth.ModeDemo} {
		if mode.Has(way) {
			out = append(out, wayTexts[string(way)])
		}
	}
	return strings.Join(out, " ")
}

// wayTexts say how people come in, by the mode of sign-in.
var wayTexts = map[string]string{
	"local": "People sign in here by name and password.",
	"oidc":  "People sign in by single sign-on; their role comes from their groups there.",
	"proxy": "People come through a proxy that says who they are.",
	"none":  "Sign-in is off: everybody is “local” with every role.",
	"demo":  "This is a demo: everybody is its operator.",
}
