"""A Flask site with Authlib. The recipe's code is in RECIPE."""
import os
import sys

import authlib
import flask
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, url_for

app = Flask(__name__)
app.secret_key = "of the site"
oauth = OAuth(app)
exec(os.environ["RECIPE"])


@app.route("/")
def begin():
    return oauth.tessera.authorize_redirect(url_for("callback", _external=True))


@app.route("/callback")
def callback():
    token = oauth.tessera.authorize_access_token()
    client = oauth.tessera._get_oauth_client(**oauth.tessera.load_server_metadata())
    fresh = client.refresh_token(
        oauth.tessera.server_metadata["token_endpoint"], refresh_token=token["refresh_token"]
    )
    return jsonify(
        versions=[authlib.__version__, flask.__version__],
        claims=token["userinfo"],
        profile=oauth.tessera.userinfo(token=fresh),
        is_refreshed=fresh["access_token"] != token["access_token"],
    )


host, port = sys.argv[1].split(":")
app.run(host, int(port))
