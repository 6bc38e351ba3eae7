// A site with go-oidc. The test puts the recipe's code in place of the line RECIPE.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/coreos/go-oidc"
	"golang.org/x/oauth2"
)

func main() {
	ctx := context.Background()
	// RECIPE
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, config.AuthCodeURL("a state", oidc.Nonce("a nonce")), http.StatusFound)
	})
	http.HandleFunc("/callback", func(w http.ResponseWriter, r *http.Request) {
		answer, err := finish(ctx, provider, verifier, config, r.URL.Query().Get("code"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(answer)
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}

// finish redeems the code, checks the ID token, refreshes, and asks for the profile with the new token.
func finish(ctx context.Context, provider *oidc.Provider, verifier *oidc.IDTokenVerifier, config oauth2.Config, code string) (interface{}, error) {
	token, err := config.Exchange(ctx, code)
	if err != nil {
		return nil, err
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if err = id.VerifyAccessToken(token.AccessToken); err != nil {
		return nil, err
	}
	old := token.AccessToken
	token.Expiry = token.Expiry.AddDate(-1, 0, 0)
	source := config.TokenSource(ctx, token)
	fresh, err := source.Token()
	if err != nil {
		return nil, err
	}
	info, err := provider.UserInfo(ctx, source)
	if err != nil {
		return nil, err
	}
	var profile map[string]interface{}
	err = info.Claims(&profile)
	return map[string]interface{}{
		"sub":         id.Subject,
		"nonce":       id.Nonce,
		"profile":     profile,
		"isRefreshed": fresh.AccessToken != old,
	}, err
}
