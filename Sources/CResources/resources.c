#include "resources.h"
#include <string.h>

// C23's #embed costs the compiler nothing; an array literal of Swift of the same bytes costs it a minute.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char client_access_js[] = {
#embed "../RelayPage/client/access.js"
};
static const unsigned char client_board_picture_js[] = {
#embed "../RelayPage/client/board-picture.js"
};
static const unsigned char client_board_reading_js[] = {
#embed "../RelayPage/client/board-reading.js"
};
static const unsigned char client_board_js[] = {
#embed "../RelayPage/client/board.js"
};
static const unsigned char client_body_shapes_js[] = {
#embed "../RelayPage/client/body-shapes.js"
};
static const unsigned char client_changes_js[] = {
#embed "../RelayPage/client/changes.js"
};
static const unsigned char client_channel_state_js[] = {
#embed "../RelayPage/client/channel-state.js"
};
static const unsigned char client_channel_js[] = {
#embed "../RelayPage/client/channel.js"
};
static const unsigned char client_channels_js[] = {
#embed "../RelayPage/client/channels.js"
};
static const unsigned char client_client_js[] = {
#embed "../RelayPage/client/client.js"
};
static const unsigned char client_credit_js[] = {
#embed "../RelayPage/client/credit.js"
};
static const unsigned char client_errors_js[] = {
#embed "../RelayPage/client/errors.js"
};
static const unsigned char client_events_js[] = {
#embed "../RelayPage/client/events.js"
};
static const unsigned char client_flows_js[] = {
#embed "../RelayPage/client/flows.js"
};
static const unsigned char client_frame_handlers_js[] = {
#embed "../RelayPage/client/frame-handlers.js"
};
static const unsigned char client_frame_layouts_js[] = {
#embed "../RelayPage/client/frame-layouts.js"
};
static const unsigned char client_frames_js[] = {
#embed "../RelayPage/client/frames.js"
};
static const unsigned char client_heartbeat_js[] = {
#embed "../RelayPage/client/heartbeat.js"
};
static const unsigned char client_identity_js[] = {
#embed "../RelayPage/client/identity.js"
};
static const unsigned char client_json_js[] = {
#embed "../RelayPage/client/json.js"
};
static const unsigned char client_keys_js[] = {
#embed "../RelayPage/client/keys.js"
};
static const unsigned char client_latest_js[] = {
#embed "../RelayPage/client/latest.js"
};
static const unsigned char client_limits_js[] = {
#embed "../RelayPage/client/limits.js"
};
static const unsigned char client_links_js[] = {
#embed "../RelayPage/client/links.js"
};
static const unsigned char client_locks_js[] = {
#embed "../RelayPage/client/locks.js"
};
static const unsigned char client_machine_types_d_ts[] = {
#embed "../RelayPage/client/machine-types.d.ts"
};
static const unsigned char client_machine_js[] = {
#embed "../RelayPage/client/machine.js"
};
static const unsigned char client_members_js[] = {
#embed "../RelayPage/client/members.js"
};
static const unsigned char client_message_js[] = {
#embed "../RelayPage/client/message.js"
};
static const unsigned char client_metadata_js[] = {
#embed "../RelayPage/client/metadata.js"
};
static const unsigned char client_moderation_js[] = {
#embed "../RelayPage/client/moderation.js"
};
static const unsigned char client_newest_js[] = {
#embed "../RelayPage/client/newest.js"
};
static const unsigned char client_options_js[] = {
#embed "../RelayPage/client/options.js"
};
static const unsigned char client_outbound_js[] = {
#embed "../RelayPage/client/outbound.js"
};
static const unsigned char client_outbox_js[] = {
#embed "../RelayPage/client/outbox.js"
};
static const unsigned char client_outgoing_drawing_js[] = {
#embed "../RelayPage/client/outgoing-drawing.js"
};
static const unsigned char client_pacing_js[] = {
#embed "../RelayPage/client/pacing.js"
};
static const unsigned char client_page_wake_up_js[] = {
#embed "../RelayPage/client/page-wake-up.js"
};
static const unsigned char client_pages_js[] = {
#embed "../RelayPage/client/pages.js"
};
static const unsigned char client_partial_drawings_js[] = {
#embed "../RelayPage/client/partial-drawings.js"
};
static const unsigned char client_pending_js[] = {
#embed "../RelayPage/client/pending.js"
};
static const unsigned char client_places_js[] = {
#embed "../RelayPage/client/places.js"
};
static const unsigned char client_presence_js[] = {
#embed "../RelayPage/client/presence.js"
};
static const unsigned char client_problems_js[] = {
#embed "../RelayPage/client/problems.js"
};
static const unsigned char client_pump_js[] = {
#embed "../RelayPage/client/pump.js"
};
static const unsigned char client_readers_js[] = {
#embed "../RelayPage/client/readers.js"
};
static const unsigned char client_receipts_js[] = {
#embed "../RelayPage/client/receipts.js"
};
static const unsigned char client_received_messages_js[] = {
#embed "../RelayPage/client/received-messages.js"
};
static const unsigned char client_requests_js[] = {
#embed "../RelayPage/client/requests.js"
};
static const unsigned char client_send_queue_js[] = {
#embed "../RelayPage/client/send-queue.js"
};
static const unsigned char client_sending_js[] = {
#embed "../RelayPage/client/sending.js"
};
static const unsigned char client_sent_drawings_js[] = {
#embed "../RelayPage/client/sent-drawings.js"
};
static const unsigned char client_sent_messages_js[] = {
#embed "../RelayPage/client/sent-messages.js"
};
static const unsigned char client_session_js[] = {
#embed "../RelayPage/client/session.js"
};
static const unsigned char client_shell_js[] = {
#embed "../RelayPage/client/shell.js"
};
static const unsigned char client_telling_js[] = {
#embed "../RelayPage/client/telling.js"
};
static const unsigned char client_text_js[] = {
#embed "../RelayPage/client/text.js"
};
static const unsigned char client_topics_js[] = {
#embed "../RelayPage/client/topics.js"
};
static const unsigned char client_types_d_ts[] = {
#embed "../RelayPage/client/types.d.ts"
};
static const unsigned char client_unread_events_js[] = {
#embed "../RelayPage/client/unread-events.js"
};
static const unsigned char client_whole_js[] = {
#embed "../RelayPage/client/whole.js"
};
static const unsigned char boardrelay_service[] = {
#embed "../../docs/examples/boardrelay.service"
};
static const unsigned char lesson_ndjson[] = {
#embed "../boardrelay/Demo/lesson.ndjson"
};
static const unsigned char page_app_js[] = {
#embed "../RelayPage/page/app.js"
};
static const unsigned char page_base64_js[] = {
#embed "../RelayPage/page/base64.js"
};
static const unsigned char page_board_change_js[] = {
#embed "../RelayPage/page/board-change.js"
};
static const unsigned char page_board_copy_js[] = {
#embed "../RelayPage/page/board-copy.js"
};
static const unsigned char page_board_css[] = {
#embed "../RelayPage/page/board.css"
};
static const unsigned char page_boards_js[] = {
#embed "../RelayPage/page/boards.js"
};
static const unsigned char page_boxes_js[] = {
#embed "../RelayPage/page/boxes.js"
};
static const unsigned char page_canvas_js[] = {
#embed "../RelayPage/page/canvas.js"
};
static const unsigned char page_clipboard_js[] = {
#embed "../RelayPage/page/clipboard.js"
};
static const unsigned char page_cuts_js[] = {
#embed "../RelayPage/page/cuts.js"
};
static const unsigned char page_describe_js[] = {
#embed "../RelayPage/page/describe.js"
};
static const unsigned char page_devices_js[] = {
#embed "../RelayPage/page/devices.js"
};
static const unsigned char page_dock_js[] = {
#embed "../RelayPage/page/dock.js"
};
static const unsigned char page_edit_bar_js[] = {
#embed "../RelayPage/page/edit-bar.js"
};
static const unsigned char page_editing_js[] = {
#embed "../RelayPage/page/editing.js"
};
static const unsigned char page_endings_js[] = {
#embed "../RelayPage/page/endings.js"
};
static const unsigned char page_everyone_board_keys_js[] = {
#embed "../RelayPage/page/everyone/board-keys.js"
};
static const unsigned char page_everyone_index_js[] = {
#embed "../RelayPage/page/everyone/index.js"
};
static const unsigned char page_everyone_news_js[] = {
#embed "../RelayPage/page/everyone/news.js"
};
static const unsigned char page_everyone_reading_order_js[] = {
#embed "../RelayPage/page/everyone/reading-order.js"
};
static const unsigned char page_everyone_text_list_js[] = {
#embed "../RelayPage/page/everyone/text-list.js"
};
static const unsigned char page_everyone_thing_name_js[] = {
#embed "../RelayPage/page/everyone/thing-name.js"
};
static const unsigned char page_explain_js[] = {
#embed "../RelayPage/page/explain.js"
};
static const unsigned char page_flyout_js[] = {
#embed "../RelayPage/page/flyout.js"
};
static const unsigned char page_format_js[] = {
#embed "../RelayPage/page/format.js"
};
static const unsigned char page_gestures_js[] = {
#embed "../RelayPage/page/gestures.js"
};
static const unsigned char page_given_js[] = {
#embed "../RelayPage/page/given.js"
};
static const unsigned char page_host_js[] = {
#embed "../RelayPage/page/host.js"
};
static const unsigned char page_identity_js[] = {
#embed "../RelayPage/page/identity.js"
};
static const unsigned char page_index_html[] = {
#embed "../RelayPage/page/index.html"
};
static const unsigned char page_ink_js[] = {
#embed "../RelayPage/page/ink.js"
};
static const unsigned char page_invite_js[] = {
#embed "../RelayPage/page/invite.js"
};
static const unsigned char page_join_code_js[] = {
#embed "../RelayPage/page/join-code.js"
};
static const unsigned char page_kept_boards_js[] = {
#embed "../RelayPage/page/kept-boards.js"
};
static const unsigned char page_kept_undo_js[] = {
#embed "../RelayPage/page/kept-undo.js"
};
static const unsigned char page_kinds_edits_js[] = {
#embed "../RelayPage/page/kinds/edits.js"
};
static const unsigned char page_kinds_image_head_js[] = {
#embed "../RelayPage/page/kinds/image-head.js"
};
static const unsigned char page_kinds_image_js[] = {
#embed "../RelayPage/page/kinds/image.js"
};
static const unsigned char page_kinds_index_js[] = {
#embed "../RelayPage/page/kinds/index.js"
};
static const unsigned char page_kinds_lines_js[] = {
#embed "../RelayPage/page/kinds/lines.js"
};
static const unsigned char page_kinds_stroke_edits_js[] = {
#embed "../RelayPage/page/kinds/stroke-edits.js"
};
static const unsigned char page_kinds_stroke_js[] = {
#embed "../RelayPage/page/kinds/stroke.js"
};
static const unsigned char page_kinds_text_js[] = {
#embed "../RelayPage/page/kinds/text.js"
};
static const unsigned char page_language_choice_js[] = {
#embed "../RelayPage/page/language-choice.js"
};
static const unsigned char page_lasers_js[] = {
#embed "../RelayPage/page/lasers.js"
};
static const unsigned char page_late_css[] = {
#embed "../RelayPage/page/late.css"
};
static const unsigned char page_layers_js[] = {
#embed "../RelayPage/page/layers.js"
};
static const unsigned char page_live_js[] = {
#embed "../RelayPage/page/live.js"
};
static const unsigned char page_names_js[] = {
#embed "../RelayPage/page/names.js"
};
static const unsigned char page_new_names_js[] = {
#embed "../RelayPage/page/new-names.js"
};
static const unsigned char page_new_person_js[] = {
#embed "../RelayPage/page/new-person.js"
};
static const unsigned char page_once_js[] = {
#embed "../RelayPage/page/once.js"
};
static const unsigned char page_own_colors_js[] = {
#embed "../RelayPage/page/own-colors.js"
};
static const unsigned char page_panels_js[] = {
#embed "../RelayPage/page/panels.js"
};
static const unsigned char page_paper_js[] = {
#embed "../RelayPage/page/paper.js"
};
static const unsigned char page_pen_mode_js[] = {
#embed "../RelayPage/page/pen-mode.js"
};
static const unsigned char page_people_js[] = {
#embed "../RelayPage/page/people.js"
};
static const unsigned char page_picture_files_js[] = {
#embed "../RelayPage/page/picture-files.js"
};
static const unsigned char page_pictures_js[] = {
#embed "../RelayPage/page/pictures.js"
};
static const unsigned char page_places_js[] = {
#embed "../RelayPage/page/places.js"
};
static const unsigned char page_png_js[] = {
#embed "../RelayPage/page/png.js"
};
static const unsigned char page_points_js[] = {
#embed "../RelayPage/page/points.js"
};
static const unsigned char page_qr_js[] = {
#embed "../RelayPage/page/qr.js"
};
static const unsigned char page_recognise_js[] = {
#embed "../RelayPage/page/recognise.js"
};
static const unsigned char page_records_js[] = {
#embed "../RelayPage/page/records.js"
};
static const unsigned char page_remembered_js[] = {
#embed "../RelayPage/page/remembered.js"
};
static const unsigned char page_replay_index_js[] = {
#embed "../RelayPage/page/replay/index.js"
};
static const unsigned char page_replay_lesson_js[] = {
#embed "../RelayPage/page/replay/lesson.js"
};
static const unsigned char page_replay_player_js[] = {
#embed "../RelayPage/page/replay/player.js"
};
static const unsigned char page_replay_replay_css[] = {
#embed "../RelayPage/page/replay/replay.css"
};
static const unsigned char page_replay_timeline_js[] = {
#embed "../RelayPage/page/replay/timeline.js"
};
static const unsigned char page_session_js[] = {
#embed "../RelayPage/page/session.js"
};
static const unsigned char page_shapes_js[] = {
#embed "../RelayPage/page/shapes.js"
};
static const unsigned char page_status_hour_js[] = {
#embed "../RelayPage/page/status-hour.js"
};
static const unsigned char page_status_numbers_js[] = {
#embed "../RelayPage/page/status-numbers.js"
};
static const unsigned char page_status_css[] = {
#embed "../RelayPage/page/status.css"
};
static const unsigned char page_status_html[] = {
#embed "../RelayPage/page/status.html"
};
static const unsigned char page_status_js[] = {
#embed "../RelayPage/page/status.js"
};
static const unsigned char page_surface_js[] = {
#embed "../RelayPage/page/surface.js"
};
static const unsigned char page_svg_document_js[] = {
#embed "../RelayPage/page/svg-document.js"
};
static const unsigned char page_tiles_js[] = {
#embed "../RelayPage/page/tiles.js"
};
static const unsigned char page_together_js[] = {
#embed "../RelayPage/page/together.js"
};
static const unsigned char page_tools_js[] = {
#embed "../RelayPage/page/tools.js"
};
static const unsigned char page_tools_area_eraser_js[] = {
#embed "../RelayPage/page/tools/area-eraser.js"
};
static const unsigned char page_tools_eraser_js[] = {
#embed "../RelayPage/page/tools/eraser.js"
};
static const unsigned char page_tools_handles_js[] = {
#embed "../RelayPage/page/tools/handles.js"
};
static const unsigned char page_tools_image_js[] = {
#embed "../RelayPage/page/tools/image.js"
};
static const unsigned char page_tools_index_js[] = {
#embed "../RelayPage/page/tools/index.js"
};
static const unsigned char page_tools_laser_js[] = {
#embed "../RelayPage/page/tools/laser.js"
};
static const unsigned char page_tools_pen_js[] = {
#embed "../RelayPage/page/tools/pen.js"
};
static const unsigned char page_tools_select_js[] = {
#embed "../RelayPage/page/tools/select.js"
};
static const unsigned char page_tools_shape_js[] = {
#embed "../RelayPage/page/tools/shape.js"
};
static const unsigned char page_tools_text_js[] = {
#embed "../RelayPage/page/tools/text.js"
};
static const unsigned char page_types_js[] = {
#embed "../RelayPage/page/types.js"
};
static const unsigned char page_ui_js[] = {
#embed "../RelayPage/page/ui.js"
};
static const unsigned char page_undo_js[] = {
#embed "../RelayPage/page/undo.js"
};
static const unsigned char page_words_ar_js[] = {
#embed "../RelayPage/page/words/ar.js"
};
static const unsigned char page_words_de_js[] = {
#embed "../RelayPage/page/words/de.js"
};
static const unsigned char page_words_en_js[] = {
#embed "../RelayPage/page/words/en.js"
};
static const unsigned char page_words_es_js[] = {
#embed "../RelayPage/page/words/es.js"
};
static const unsigned char page_words_fr_js[] = {
#embed "../RelayPage/page/words/fr.js"
};
static const unsigned char page_words_index_js[] = {
#embed "../RelayPage/page/words/index.js"
};
static const unsigned char page_words_it_js[] = {
#embed "../RelayPage/page/words/it.js"
};
static const unsigned char page_words_later_ar_js[] = {
#embed "../RelayPage/page/words/later/ar.js"
};
static const unsigned char page_words_later_de_js[] = {
#embed "../RelayPage/page/words/later/de.js"
};
static const unsigned char page_words_later_en_js[] = {
#embed "../RelayPage/page/words/later/en.js"
};
static const unsigned char page_words_later_es_js[] = {
#embed "../RelayPage/page/words/later/es.js"
};
static const unsigned char page_words_later_fr_js[] = {
#embed "../RelayPage/page/words/later/fr.js"
};
static const unsigned char page_words_later_it_js[] = {
#embed "../RelayPage/page/words/later/it.js"
};
static const unsigned char page_words_later_pl_js[] = {
#embed "../RelayPage/page/words/later/pl.js"
};
static const unsigned char page_words_later_pt_js[] = {
#embed "../RelayPage/page/words/later/pt.js"
};
static const unsigned char page_words_later_tr_js[] = {
#embed "../RelayPage/page/words/later/tr.js"
};
static const unsigned char page_words_later_uk_js[] = {
#embed "../RelayPage/page/words/later/uk.js"
};
static const unsigned char page_words_names_ar_js[] = {
#embed "../RelayPage/page/words/names/ar.js"
};
static const unsigned char page_words_names_de_js[] = {
#embed "../RelayPage/page/words/names/de.js"
};
static const unsigned char page_words_names_en_js[] = {
#embed "../RelayPage/page/words/names/en.js"
};
static const unsigned char page_words_names_es_js[] = {
#embed "../RelayPage/page/words/names/es.js"
};
static const unsigned char page_words_names_fr_js[] = {
#embed "../RelayPage/page/words/names/fr.js"
};
static const unsigned char page_words_names_it_js[] = {
#embed "../RelayPage/page/words/names/it.js"
};
static const unsigned char page_words_names_pl_js[] = {
#embed "../RelayPage/page/words/names/pl.js"
};
static const unsigned char page_words_names_pt_js[] = {
#embed "../RelayPage/page/words/names/pt.js"
};
static const unsigned char page_words_names_tr_js[] = {
#embed "../RelayPage/page/words/names/tr.js"
};
static const unsigned char page_words_names_uk_js[] = {
#embed "../RelayPage/page/words/names/uk.js"
};
static const unsigned char page_words_pl_js[] = {
#embed "../RelayPage/page/words/pl.js"
};
static const unsigned char page_words_pt_js[] = {
#embed "../RelayPage/page/words/pt.js"
};
static const unsigned char page_words_status_ar_js[] = {
#embed "../RelayPage/page/words/status/ar.js"
};
static const unsigned char page_words_status_de_js[] = {
#embed "../RelayPage/page/words/status/de.js"
};
static const unsigned char page_words_status_en_js[] = {
#embed "../RelayPage/page/words/status/en.js"
};
static const unsigned char page_words_status_es_js[] = {
#embed "../RelayPage/page/words/status/es.js"
};
static const unsigned char page_words_status_fr_js[] = {
#embed "../RelayPage/page/words/status/fr.js"
};
static const unsigned char page_words_status_it_js[] = {
#embed "../RelayPage/page/words/status/it.js"
};
static const unsigned char page_words_status_pl_js[] = {
#embed "../RelayPage/page/words/status/pl.js"
};
static const unsigned char page_words_status_pt_js[] = {
#embed "../RelayPage/page/words/status/pt.js"
};
static const unsigned char page_words_status_tr_js[] = {
#embed "../RelayPage/page/words/status/tr.js"
};
static const unsigned char page_words_status_uk_js[] = {
#embed "../RelayPage/page/words/status/uk.js"
};
static const unsigned char page_words_tr_js[] = {
#embed "../RelayPage/page/words/tr.js"
};
static const unsigned char page_words_uk_js[] = {
#embed "../RelayPage/page/words/uk.js"
};
static const unsigned char page_writer_js[] = {
#embed "../RelayPage/page/writer.js"
};
static const unsigned char page_writing_js[] = {
#embed "../RelayPage/page/writing.js"
};
static const unsigned char relay_client_d_ts[] = {
#embed "../RelayPage/relay-client.d.ts"
};
static const unsigned char relay_client_js[] = {
#embed "../RelayPage/relay-client.js"
};

#define FILE_NAMED(name, bytes) {name, bytes, sizeof bytes}

static const struct resource_file files[] = {
    FILE_NAMED("client/access.js", client_access_js),
    FILE_NAMED("client/board-picture.js", client_board_picture_js),
    FILE_NAMED("client/board-reading.js", client_board_reading_js),
    FILE_NAMED("client/board.js", client_board_js),
    FILE_NAMED("client/body-shapes.js", client_body_shapes_js),
    FILE_NAMED("client/changes.js", client_changes_js),
    FILE_NAMED("client/channel-state.js", client_channel_state_js),
    FILE_NAMED("client/channel.js", client_channel_js),
    FILE_NAMED("client/channels.js", client_channels_js),
    FILE_NAMED("client/client.js", client_client_js),
    FILE_NAMED("client/credit.js", client_credit_js),
    FILE_NAMED("client/errors.js", client_errors_js),
    FILE_NAMED("client/events.js", client_events_js),
    FILE_NAMED("client/flows.js", client_flows_js),
    FILE_NAMED("client/frame-handlers.js", client_frame_handlers_js),
    FILE_NAMED("client/frame-layouts.js", client_frame_layouts_js),
    FILE_NAMED("client/frames.js", client_frames_js),
    FILE_NAMED("client/heartbeat.js", client_heartbeat_js),
    FILE_NAMED("client/identity.js", client_identity_js),
    FILE_NAMED("client/json.js", client_json_js),
    FILE_NAMED("client/keys.js", client_keys_js),
    FILE_NAMED("client/latest.js", client_latest_js),
    FILE_NAMED("client/limits.js", client_limits_js),
    FILE_NAMED("client/links.js", client_links_js),
    FILE_NAMED("client/locks.js", client_locks_js),
    FILE_NAMED("client/machine-types.d.ts", client_machine_types_d_ts),
    FILE_NAMED("client/machine.js", client_machine_js),
    FILE_NAMED("client/members.js", client_members_js),
    FILE_NAMED("client/message.js", client_message_js),
    FILE_NAMED("client/metadata.js", client_metadata_js),
    FILE_NAMED("client/moderation.js", client_moderation_js),
    FILE_NAMED("client/newest.js", client_newest_js),
    FILE_NAMED("client/options.js", client_options_js),
    FILE_NAMED("client/outbound.js", client_outbound_js),
    FILE_NAMED("client/outbox.js", client_outbox_js),
    FILE_NAMED("client/outgoing-drawing.js", client_outgoing_drawing_js),
    FILE_NAMED("client/pacing.js", client_pacing_js),
    FILE_NAMED("client/page-wake-up.js", client_page_wake_up_js),
    FILE_NAMED("client/pages.js", client_pages_js),
    FILE_NAMED("client/partial-drawings.js", client_partial_drawings_js),
    FILE_NAMED("client/pending.js", client_pending_js),
    FILE_NAMED("client/places.js", client_places_js),
    FILE_NAMED("client/presence.js", client_presence_js),
    FILE_NAMED("client/problems.js", client_problems_js),
    FILE_NAMED("client/pump.js", client_pump_js),
    FILE_NAMED("client/readers.js", client_readers_js),
    FILE_NAMED("client/receipts.js", client_receipts_js),
    FILE_NAMED("client/received-messages.js", client_received_messages_js),
    FILE_NAMED("client/requests.js", client_requests_js),
    FILE_NAMED("client/send-queue.js", client_send_queue_js),
    FILE_NAMED("client/sending.js", client_sending_js),
    FILE_NAMED("client/sent-drawings.js", client_sent_drawings_js),
    FILE_NAMED("client/sent-messages.js", client_sent_messages_js),
    FILE_NAMED("client/session.js", client_session_js),
    FILE_NAMED("client/shell.js", client_shell_js),
    FILE_NAMED("client/telling.js", client_telling_js),
    FILE_NAMED("client/text.js", client_text_js),
    FILE_NAMED("client/topics.js", client_topics_js),
    FILE_NAMED("client/types.d.ts", client_types_d_ts),
    FILE_NAMED("client/unread-events.js", client_unread_events_js),
    FILE_NAMED("client/whole.js", client_whole_js),
    FILE_NAMED("boardrelay.service", boardrelay_service),
    FILE_NAMED("lesson.ndjson", lesson_ndjson),
    FILE_NAMED("page/app.js", page_app_js),
    FILE_NAMED("page/base64.js", page_base64_js),
    FILE_NAMED("page/board-change.js", page_board_change_js),
    FILE_NAMED("page/board-copy.js", page_board_copy_js),
    FILE_NAMED("page/board.css", page_board_css),
    FILE_NAMED("page/boards.js", page_boards_js),
    FILE_NAMED("page/boxes.js", page_boxes_js),
    FILE_NAMED("page/canvas.js", page_canvas_js),
    FILE_NAMED("page/clipboard.js", page_clipboard_js),
    FILE_NAMED("page/cuts.js", page_cuts_js),
    FILE_NAMED("page/describe.js", page_describe_js),
    FILE_NAMED("page/devices.js", page_devices_js),
    FILE_NAMED("page/dock.js", page_dock_js),
    FILE_NAMED("page/edit-bar.js", page_edit_bar_js),
    FILE_NAMED("page/editing.js", page_editing_js),
    FILE_NAMED("page/endings.js", page_endings_js),
    FILE_NAMED("page/everyone/board-keys.js", page_everyone_board_keys_js),
    FILE_NAMED("page/everyone/index.js", page_everyone_index_js),
    FILE_NAMED("page/everyone/news.js", page_everyone_news_js),
    FILE_NAMED("page/everyone/reading-order.js", page_everyone_reading_order_js),
    FILE_NAMED("page/everyone/text-list.js", page_everyone_text_list_js),
    FILE_NAMED("page/everyone/thing-name.js", page_everyone_thing_name_js),
    FILE_NAMED("page/explain.js", page_explain_js),
    FILE_NAMED("page/flyout.js", page_flyout_js),
    FILE_NAMED("page/format.js", page_format_js),
    FILE_NAMED("page/gestures.js", page_gestures_js),
    FILE_NAMED("page/given.js", page_given_js),
    FILE_NAMED("page/host.js", page_host_js),
    FILE_NAMED("page/identity.js", page_identity_js),
    FILE_NAMED("page/index.html", page_index_html),
    FILE_NAMED("page/ink.js", page_ink_js),
    FILE_NAMED("page/invite.js", page_invite_js),
    FILE_NAMED("page/join-code.js", page_join_code_js),
    FILE_NAMED("page/kept-boards.js", page_kept_boards_js),
    FILE_NAMED("page/kept-undo.js", page_kept_undo_js),
    FILE_NAMED("page/kinds/edits.js", page_kinds_edits_js),
    FILE_NAMED("page/kinds/image-head.js", page_kinds_image_head_js),
    FILE_NAMED("page/kinds/image.js", page_kinds_image_js),
    FILE_NAMED("page/kinds/index.js", page_kinds_index_js),
    FILE_NAMED("page/kinds/lines.js", page_kinds_lines_js),
    FILE_NAMED("page/kinds/stroke-edits.js", page_kinds_stroke_edits_js),
    FILE_NAMED("page/kinds/stroke.js", page_kinds_stroke_js),
    FILE_NAMED("page/kinds/text.js", page_kinds_text_js),
    FILE_NAMED("page/language-choice.js", page_language_choice_js),
    FILE_NAMED("page/lasers.js", page_lasers_js),
    FILE_NAMED("page/late.css", page_late_css),
    FILE_NAMED("page/layers.js", page_layers_js),
    FILE_NAMED("page/live.js", page_live_js),
    FILE_NAMED("page/names.js", page_names_js),
    FILE_NAMED("page/new-names.js", page_new_names_js),
    FILE_NAMED("page/new-person.js", page_new_person_js),
    FILE_NAMED("page/once.js", page_once_js),
    FILE_NAMED("page/own-colors.js", page_own_colors_js),
    FILE_NAMED("page/panels.js", page_panels_js),
    FILE_NAMED("page/paper.js", page_paper_js),
    FILE_NAMED("page/pen-mode.js", page_pen_mode_js),
    FILE_NAMED("page/people.js", page_people_js),
    FILE_NAMED("page/picture-files.js", page_picture_files_js),
    FILE_NAMED("page/pictures.js", page_pictures_js),
    FILE_NAMED("page/places.js", page_places_js),
    FILE_NAMED("page/png.js", page_png_js),
    FILE_NAMED("page/points.js", page_points_js),
    FILE_NAMED("page/qr.js", page_qr_js),
    FILE_NAMED("page/recognise.js", page_recognise_js),
    FILE_NAMED("page/records.js", page_records_js),
    FILE_NAMED("page/remembered.js", page_remembered_js),
    FILE_NAMED("page/replay/index.js", page_replay_index_js),
    FILE_NAMED("page/replay/lesson.js", page_replay_lesson_js),
    FILE_NAMED("page/replay/player.js", page_replay_player_js),
    FILE_NAMED("page/replay/replay.css", page_replay_replay_css),
    FILE_NAMED("page/replay/timeline.js", page_replay_timeline_js),
    FILE_NAMED("page/session.js", page_session_js),
    FILE_NAMED("page/shapes.js", page_shapes_js),
    FILE_NAMED("page/status-hour.js", page_status_hour_js),
    FILE_NAMED("page/status-numbers.js", page_status_numbers_js),
    FILE_NAMED("page/status.css", page_status_css),
    FILE_NAMED("page/status.html", page_status_html),
    FILE_NAMED("page/status.js", page_status_js),
    FILE_NAMED("page/surface.js", page_surface_js),
    FILE_NAMED("page/svg-document.js", page_svg_document_js),
    FILE_NAMED("page/tiles.js", page_tiles_js),
    FILE_NAMED("page/together.js", page_together_js),
    FILE_NAMED("page/tools.js", page_tools_js),
    FILE_NAMED("page/tools/area-eraser.js", page_tools_area_eraser_js),
    FILE_NAMED("page/tools/eraser.js", page_tools_eraser_js),
    FILE_NAMED("page/tools/handles.js", page_tools_handles_js),
    FILE_NAMED("page/tools/image.js", page_tools_image_js),
    FILE_NAMED("page/tools/index.js", page_tools_index_js),
    FILE_NAMED("page/tools/laser.js", page_tools_laser_js),
    FILE_NAMED("page/tools/pen.js", page_tools_pen_js),
    FILE_NAMED("page/tools/select.js", page_tools_select_js),
    FILE_NAMED("page/tools/shape.js", page_tools_shape_js),
    FILE_NAMED("page/tools/text.js", page_tools_text_js),
    FILE_NAMED("page/types.js", page_types_js),
    FILE_NAMED("page/ui.js", page_ui_js),
    FILE_NAMED("page/undo.js", page_undo_js),
    FILE_NAMED("page/words/ar.js", page_words_ar_js),
    FILE_NAMED("page/words/de.js", page_words_de_js),
    FILE_NAMED("page/words/en.js", page_words_en_js),
    FILE_NAMED("page/words/es.js", page_words_es_js),
    FILE_NAMED("page/words/fr.js", page_words_fr_js),
    FILE_NAMED("page/words/index.js", page_words_index_js),
    FILE_NAMED("page/words/it.js", page_words_it_js),
    FILE_NAMED("page/words/later/ar.js", page_words_later_ar_js),
    FILE_NAMED("page/words/later/de.js", page_words_later_de_js),
    FILE_NAMED("page/words/later/en.js", page_words_later_en_js),
    FILE_NAMED("page/words/later/es.js", page_words_later_es_js),
    FILE_NAMED("page/words/later/fr.js", page_words_later_fr_js),
    FILE_NAMED("page/words/later/it.js", page_words_later_it_js),
    FILE_NAMED("page/words/later/pl.js", page_words_later_pl_js),
    FILE_NAMED("page/words/later/pt.js", page_words_later_pt_js),
    FILE_NAMED("page/words/later/tr.js", page_words_later_tr_js),
    FILE_NAMED("page/words/later/uk.js", page_words_later_uk_js),
    FILE_NAMED("page/words/names/ar.js", page_words_names_ar_js),
    FILE_NAMED("page/words/names/de.js", page_words_names_de_js),
    FILE_NAMED("page/words/names/en.js", page_words_names_en_js),
    FILE_NAMED("page/words/names/es.js", page_words_names_es_js),
    FILE_NAMED("page/words/names/fr.js", page_words_names_fr_js),
    FILE_NAMED("page/words/names/it.js", page_words_names_it_js),
    FILE_NAMED("page/words/names/pl.js", page_words_names_pl_js),
    FILE_NAMED("page/words/names/pt.js", page_words_names_pt_js),
    FILE_NAMED("page/words/names/tr.js", page_words_names_tr_js),
    FILE_NAMED("page/words/names/uk.js", page_words_names_uk_js),
    FILE_NAMED("page/words/pl.js", page_words_pl_js),
    FILE_NAMED("page/words/pt.js", page_words_pt_js),
    FILE_NAMED("page/words/status/ar.js", page_words_status_ar_js),
    FILE_NAMED("page/words/status/de.js", page_words_status_de_js),
    FILE_NAMED("page/words/status/en.js", page_words_status_en_js),
    FILE_NAMED("page/words/status/es.js", page_words_status_es_js),
    FILE_NAMED("page/words/status/fr.js", page_words_status_fr_js),
    FILE_NAMED("page/words/status/it.js", page_words_status_it_js),
    FILE_NAMED("page/words/status/pl.js", page_words_status_pl_js),
    FILE_NAMED("page/words/status/pt.js", page_words_status_pt_js),
    FILE_NAMED("page/words/status/tr.js", page_words_status_tr_js),
    FILE_NAMED("page/words/status/uk.js", page_words_status_uk_js),
    FILE_NAMED("page/words/tr.js", page_words_tr_js),
    FILE_NAMED("page/words/uk.js", page_words_uk_js),
    FILE_NAMED("page/writer.js", page_writer_js),
    FILE_NAMED("page/writing.js", page_writing_js),
    FILE_NAMED("relay-client.d.ts", relay_client_d_ts),
    FILE_NAMED("relay-client.js", relay_client_js),
};

size_t resource_files_count(void) {
    return sizeof files / sizeof files[0];
}

const struct resource_file *resource_file_at(size_t index) {
    return &files[index];
}

const struct resource_file *resource_file_named(const char *name) {
    for (size_t index = 0; index < resource_files_count(); index += 1) {
        if (strcmp(files[index].name, name) == 0) return &files[index];
    }
    return NULL;
}

#define QUOTED(text) #text
#define TEXT(macro) QUOTED(macro)

const char *resource_commit(void) {
#ifdef BOARDRELAY_COMMIT
    return TEXT(BOARDRELAY_COMMIT);
#else
    return NULL;
#endif
}
