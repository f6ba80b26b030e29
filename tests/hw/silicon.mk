# make silicon: one static program, for any machine of this architecture, that writes a record of what the library does there.
silicon: $(B)/silicon
$(B)/silicon: $(B)/static/tests/hw/silicon
	$(call quiet,COPY)cp $< $@
.PHONY: silicon
