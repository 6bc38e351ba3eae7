// The adapter: it puts the element into the user menu, links into posts, and a button into the composer. All logic is in the lib.
import Component from "@glimmer/component";
import { apiInitializer } from "discourse/lib/api";
import dIcon from "discourse/ui-kit/helpers/d-icon";
import { i18n } from "discourse-i18n";
import { addPayLinks, defineTesseraWallet, openOwnLinks, serviceOf, tipAddress } from "../lib/tessera-wallet";

export default apiInitializer((/** @type {import("discourse/lib/plugin-api").PluginApi} */ api) => {
  const reader = api.getCurrentUser();
  const service = serviceOf(settings.service_url);
  const language = document.documentElement.lang;
  if (service === undefined) {
    return;
  }

  if (settings.show_payment_links) {
    const services = [service, settings.payment_url];
    api.decorateCookedElement((/** @type {Element} */ post) => addPayLinks(post, services, language));
  }

  if (!reader) {
    return;
  }

  if (settings.show_payment_links) {
    api.addComposerToolbarPopupMenuOption(/** @type {any} */ ({
      name: "tessera-links",
      icon: "wallet",
      label: themePrefix("links"),
      action: () => openOwnLinks(service),
    }));
  }

  if (settings.show_wallet) {
    defineTesseraWallet();
    const WalletPanel = <template>
      <tessera-wallet
        service={{service}}
        forum-id={{reader.id}}
        lang={{language}}
      ></tessera-wallet>
    </template>;

    api.registerUserMenuTab(
      (UserMenuTab) =>
        class extends UserMenuTab {
          id = "tessera-wallet";
          icon = "wallet";
          panelComponent = WalletPanel;

          get title() {
            return i18n(themePrefix("wallet"));
          }
        }
    );
  }

  if (settings.show_tips) {
    class TipLink extends Component {
      static shouldRender({ post }) {
        return tipAddress(service, post, reader) !== undefined;
      }

      get address() {
        return tipAddress(service, this.args.post, reader);
      }

      get title() {
        return i18n(themePrefix("tip"));
      }

      <template>
        <a
          class="btn btn-icon btn-flat no-text post-action-menu__tessera-tip"
          href={{this.address}}
          target="_blank"
          rel="noopener noreferrer"
          title={{this.title}}
          aria-label={{this.title}}
        >{{dIcon "gift"}}</a>
      </template>
    }

    api.registerValueTransformer(
      "post-menu-buttons",
      ({ value: buttons, context: { firstButtonKey } }) => {
        buttons.add("tessera-tip", TipLink, { after: firstButtonKey });
      }
    );
  }
});
