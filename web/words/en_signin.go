package words

// signIn are the sentences of sign-in, sessions, users and roles.
var signIn = map[string]string{
	// The way in.

	// What is refused.

	// Roles and ways.
	"signedIn.password":    "password",
	"signedIn.oidc":        "single sign-on",
	"signedIn.proxy":       "proxy",
	"signedIn.token":       "token",
	"signedIn.break-glass": "emergency account",
	"signedIn.demo":        "demo",
	"signedIn.none":        "nothing: sign-in is off",
	"signedIn.other":       "another way ({code})",
	"way.local":            "People sign in here by name and password.",
	"way.oidc":             "People sign in by single sign-on; their role comes from their groups there.",
	"way.proxy":            "People come through a proxy that says who they are.",
	"way.none":             "Sign-in is off: everybody is “local” with every role.",
	"way.demo":             "This is a demo: everybody is its operator.",
	"way.other":            "People come in another way ({code}).",

	// Around every page.

	// One's own settings.

	// Everybody.
	"done.password": "The password is changed. Your other sessions have ended.",
	"done.session":  "The session has ended.",
	"done.token":    "The token is revoked.",
	"done.user":     "The user is added.",
	"done.change":   "It is changed. The user's sessions have ended.",
}
