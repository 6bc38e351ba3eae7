"""A Django site with social-auth. The recipe's settings are in RECIPE."""
import os
import sys

import django
import social_core
import social_django
from django.conf import settings

recipe = {"os": os}
exec(os.environ["RECIPE"], recipe)
settings.configure(
    SECRET_KEY="of the site",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "social_django",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    LOGIN_REDIRECT_URL="/me",
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    **{name: value for name, value in recipe.items() if name.isupper()},
)
django.setup()

from django.core.management import execute_from_command_line
from django.http import JsonResponse
from django.urls import include, path
from social_django.utils import load_strategy


def me(request):
    account = request.user.social_auth.first()
    return JsonResponse(
        {
            "versions": [social_core.__version__, social_django.__version__, django.__version__],
            "username": request.user.username,
            "email": request.user.email,
            "uid": account.uid,
            "token": account.extra_data["access_token"],
        }
    )


def refresh(request):
    request.user.social_auth.first().refresh_token(load_strategy())
    return me(request)


urlpatterns = [
    path("me", me),
    path("refresh", refresh),
    path("", include("social_django.urls", namespace="social")),
]
execute_from_command_line(["site", "migrate", "-v0"])
execute_from_command_line(["site", "runserver", "--noreload", "--nothreading", sys.argv[1]])
